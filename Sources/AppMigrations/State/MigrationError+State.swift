// Errors about a state that several callers throw.

extension MigrationError {
    static func unreadable(_ cause: SystemCallError, at location: StateLocation) -> MigrationError {
        location.error(
            .stateUnreadable,
            at: cause.path,
            because: cause,
            isTransient: cause.isOfLockedDevice,
            "The state of \(location) could not be read: \(cause).",
            advice: """
                Try again when the file can be read, for instance after the first unlock of the device. If it stays unreadable, \
                correct its permissions or its path.
                """
        )
    }

    /// The state existed when the manager was made, and doesn't exist any more.
    package static func gone(_ location: StateLocation, isOfFleet: Bool = false) -> MigrationError {
        let fence: Message = """
             Its fences begin again with 1, so whatever refuses lower fences has to forget its highest one.
            """
        return location.error(
            .stateUnreadable,
            nil,
            "The state of \(location) existed when the manager was made, and is gone.",
            advice: "Make a new manager. It will be a first run.\(isOfFleet ? fence : "")"
        )
    }

    static func notRegular(_ location: StateLocation) -> MigrationError {
        location.error(
            .stateCorrupted,
            nil,
            "The state of \(location) is not a regular file of at most 1 MiB. It was left as it is.",
            advice: """
                Put the state file itself at this path: a link isn't followed, because a save would replace it. If the state is \
                lost, move away what is at the path, and the next manager is a first run.\(copies(location))
                """
        )
    }

    static func corrupted(_ location: StateLocation, because error: JSONError) -> MigrationError {
        location.error(
            .stateCorrupted,
            nil,
            """
            The state of \(location) is damaged, or is not a state of this manager: \(error.message). It was left as it is.
            """,
            advice: """
                Repair the file, restore it from a backup, or move it away. Once it is moved away, the next manager is a first \
                run.\(copies(location))
                """
        )
    }

    static func fromNewerFormat(_ format: Int, at location: StateLocation) -> MigrationError {
        location.error(
            .stateFromNewerFormat,
            nil,
            """
            The state of \(location) has format \(format), and this release of the library reads up to \(MigrationState.format).
            """,
            advice: "Start a newer release of the app."
        )
    }

    /// What becomes of the copies of protected files if the state is lost or repaired.
    private static func copies(_ location: StateLocation) -> Message {
        if location.path == nil { return "" }
        return """
             Copies of protected files may be in \(location.snapshot). A first run keeps them in another folder. If you repair \
            the file by hand, keep its \("interruption".quoted) member: without it, the next start deletes the copies.
            """
    }
}

// Errors of a manager that is closed or read-only.

extension MigrationError {
    package static func managerClosed(
        _ version: AppVersion?,
        by first: MigrationError,
        in location: StateLocation
    ) -> MigrationError {
        let subject: Message =
            version.map { "Migration \($0) was not run" } ?? "The declared version was not run"
        let reason: Message =
            first.code == .managerClosed
            ? ". \(first.description)"
            : """
            : \(location) has been closed since an earlier failure. \
            Fix this and make a new manager. The first failure: \(first.description)
            """
        return location.error(.managerClosed, version, because: first, "\(subject)\(reason)")
    }

    /// The refusal of a migration that is pending, or, without a version, of a call that would change the
    /// state.
    package static func readOnly(_ location: StateLocation, version: AppVersion? = nil) -> MigrationError {
        guard let version else {
            return location.error(
                .readOnly,
                nil,
                "The \(location) was made with isReadOnly, and only reads.",
                advice: "Make a manager without isReadOnly for this call."
            )
        }
        let text: Message = """
            Migration \(version) is pending and was not run: \(location) was made with isReadOnly, and only reads. \
            Make a manager without isReadOnly to run it. Its plan and its status can be read without one.
            """
        return location.error(.readOnly, version, text)
    }
}
