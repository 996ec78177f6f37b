// The errors about a state that several places throw.

extension MigrationError {
    static func unreadable(_ cause: SystemCallError, at location: StateLocation) -> MigrationError {
        location.error(
            .stateUnreadable,
            at: cause.path,
            because: cause,
            isTransient: cause.isOfLockedDevice,
            "The state of \(location) could not be read: \(cause).",
            advice: """
                Try again when the file can be read, for example after the first unlock of the device. If it still can't be read, \
                correct its permissions or its path.
                """
        )
    }

    /// Makes the error for a state that existed when the manager was created and no longer exists.
    package static func gone(_ location: StateLocation) -> MigrationError {
        location.error(
            .stateUnreadable,
            "The state of \(location) existed when the manager was created, but it no longer exists.",
            advice: "Create a new manager, which begins with a first run."
        )
    }

    static func notRegular(_ location: StateLocation) -> MigrationError {
        location.error(
            .stateCorrupted,
            "The state of \(location) is not a regular file, or is larger than 1 MiB. The state was left unchanged.",
            advice: """
                Put the state file itself at this path. A symbolic link isn't followed, because the next save would replace it. \
                If the state is lost, call \(forgetState), which moves aside whatever is at this path. The next manager then \
                begins with a first run.
                """
        )
    }

    package static func corrupted(_ location: StateLocation, because error: JSONError) -> MigrationError {
        location.error(
            .stateCorrupted,
            """
            The state of \(location) is damaged, or is not a state of this manager: \(error.message). The state was left unchanged.
            """,
            advice: """
                Repair the \(location.path == nil ? "document" : "file"), or restore it from a backup. If you can't, \
                \(location.path == nil ? "remove the document" : "call \(forgetState), which moves the file aside"). The next manager \
                then begins with a first run.
                """
        )
    }

    static func fromNewerFormat(_ format: Int, at location: StateLocation) -> MigrationError {
        location.error(
            .stateFromNewerFormat,
            """
            The state of \(location) has format \(format), but this release of the library reads only formats up to \
            \(MigrationState.format).
            """,
            advice: "Use a newer release of the app."
        )
    }

    private static let forgetState: Message =
        "MigrationManager.forgetState(named:stateDirectory:lockTimeout:)"
}

// The errors of a manager that is closed or read-only.

extension MigrationError {
    package static func managerClosed(
        _ version: AppVersion?,
        subject: Message? = nil,
        by firstFailure: MigrationError,
        in location: StateLocation
    ) -> MigrationError {
        let subject =
            subject ?? version.map { "Migration \($0) was not run" } ?? "The declared migration was not run"
        let reason: Message =
            firstFailure.code == .managerClosed
            ? ". \(firstFailure.description)"
            : """
            : \(location) was closed because of an earlier failure. \
            Fix that failure and create a new manager. The first failure: \(firstFailure.description)
            """
        return location.error(.managerClosed, version: version, because: firstFailure, "\(subject)\(reason)")
    }

    /// Makes the error of a read-only manager.
    ///
    /// If `version` isn't `nil`, the error says that this pending migration was not run. If it is `nil`, the
    /// error says that a call was refused because it would change the state.
    package static func readOnly(_ location: StateLocation, version: AppVersion? = nil) -> MigrationError {
        guard let version else {
            return location.error(
                .readOnly,
                "The \(location) was created with isReadOnly, so it can't change the state.",
                advice: "Create a manager without isReadOnly for this call."
            )
        }
        let text: Message = """
            Migration \(version) is pending and was not run, because \(location) was created with isReadOnly. \
            Create a manager without isReadOnly to run it. A read-only manager can still read the plan and the status.
            """
        return location.error(.readOnly, version: version, text)
    }
}
