// Errors about a state that several callers throw.

extension MigrationError {
    static func unreadable(_ cause: SystemCallError, at location: StateLocation) -> MigrationError {
        let text: Message = """
            The state of \(location) could not be read: \(cause). Nothing was run or written. Try again when the file can be \
            read, for instance after the device's first unlock; where that is no matter of time, change its rights or its path.
            """
        return location.error(
            .stateUnreadable,
            at: cause.path,
            because: cause,
            isTransient: cause.isOfLockedDevice,
            text
        )
    }

    /// The state existed when the manager was made, and doesn't exist any more.
    package static func gone(_ location: StateLocation) -> MigrationError {
        let text: Message = """
            The state of \(location) was there when the manager was made and is gone. Nothing was run or written. Make a new \
            manager; it will be a first run.
            """
        return location.error(.stateUnreadable, nil, text)
    }

    static func notRegular(_ location: StateLocation) -> MigrationError {
        let text: Message = """
            The state of \(location) is not a regular file of at most 1 MiB. Nothing was run, and what stands there was left as \
            it is. Put the state's file itself at this path: a link isn't followed, since a save would replace it. Where the \
            state is lost, move away what stands there: the next manager is a first run then.\(copies(location))
            """
        return location.error(.stateCorrupted, nil, text)
    }

    static func corrupted(_ location: StateLocation, because error: JSONError) -> MigrationError {
        let text: Message = """
            The state of \(location) is damaged, or not a state of this manager: \(error.message). Nothing was run, and every byte of \
            it was left as it is. Repair the file, restore it from a backup, or move it away: the next manager is a first run \
            then.\(copies(location))
            """
        return location.error(.stateCorrupted, nil, text)
    }

    static func fromNewerFormat(_ format: Int, at location: StateLocation) -> MigrationError {
        let text: Message = """
            The state of \(location) has format \(format); this release of the library reads up to \(MigrationState.format). \
            Nothing was run or written. Start a newer release of the app.
            """
        return location.error(.stateFromNewerFormat, nil, text)
    }

    /// What becomes of the copies of protected files if the state is lost or repaired.
    private static func copies(_ location: StateLocation) -> Message {
        if location.path == nil { return "" }
        return """
             A first run puts copies of protected files, \(location.snapshot), aside. In a repair keep \
            \("interruption".quoted), or put that folder aside before: copies that no state lists are removed.
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
        let subject: Message = version.map { "Migration \($0) was not run" } ?? "Nothing was run"
        let reason: Message =
            first.code == .managerClosed
            ? ". \(first.description)"
            : """
            : manager \(location.name.quoted) has been closed since an earlier failure. \
            Mend that and make a new manager. The first failure: \(first.description)
            """
        return location.error(.managerClosed, version, because: first, "\(subject)\(reason)")
    }

    package static func readOnly(_ location: StateLocation, version: AppVersion? = nil) -> MigrationError {
        let reason: Message =
            version.map { "Migration \($0) is pending and was not run" } ?? "Nothing was changed"
        let text: Message = """
            \(reason): \(location) was made with isReadOnly and only reads. \
            Nothing was written. Make a manager without isReadOnly for it; plan and status show it without one.
            """
        return location.error(.readOnly, version, text)
    }
}
