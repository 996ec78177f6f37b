extension MigrationError {
    static func unreadable(_ cause: SystemCallError, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateUnreadable,
            manager: location.name,
            path: location.path,
            underlying: cause,
            """
            The state of manager \(location.name.quoted), \(location.state), could not be read: \(cause). \
            Nothing was run or written. Try again when the file can be read, for instance after the device's first unlock; where \
            that is no matter of time, change its rights or its path.
            """
        )
    }

    /// The state was there when the manager was made.
    package static func gone(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateUnreadable,
            manager: location.name,
            path: location.path,
            """
            The state of manager \(location.name.quoted), \(location.state), was there when the manager was made \
            and is gone. Nothing was run or written. Make a new manager; it will be a first run.
            """
        )
    }

    static func notRegular(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateCorrupted,
            manager: location.name,
            path: location.path,
            """
            The state of manager \(location.name.quoted), \(location.state), is not a regular file of at most 1 MiB. Nothing \
            was run, and what stands there was left as it is. Put the state's file itself at this path: a link isn't \
            followed, since a save would replace it. Where the state is lost, move away what stands there: the next \
            manager is a first run then.\(copies(location))
            """
        )
    }

    static func newerFormat(_ format: Int, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .stateFromNewerFormat,
            manager: location.name,
            path: location.path,
            """
            The state of manager \(location.name.quoted), \(location.state), has format \(format); this release \
            of the library reads up to \(MigrationState.format). Nothing was run or written. \
            Start a newer release of the app.
            """
        )
    }

    /// `reason` says what is wrong, at which byte.
    static func corrupted(_ location: StateLocation, _ reason: Message) -> MigrationError {
        MigrationError(
            .stateCorrupted,
            manager: location.name,
            path: location.path,
            """
            The state of manager \(location.name.quoted), \(location.state), is damaged, or not a state of this manager: \
            \(reason). Nothing was run, and every byte of it was left as it is. Repair the file, restore it from a \
            backup, or move it away: the next manager is a first run then.\(copies(location))
            """
        )
    }

    /// What becomes of the copies of protected files where a state is lost or repaired.
    private static func copies(_ location: StateLocation) -> Message {
        if location.path == nil { return "" }
        return """
             A first run puts copies of protected files, \(location.snapshot), aside. In a repair keep \
            \("interruption".quoted), or put that folder aside before: copies that no state lists are removed.
            """
    }
}
