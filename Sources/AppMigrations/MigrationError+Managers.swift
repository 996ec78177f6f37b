extension MigrationError {
    package static func forgotten(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            path: location.path,
            """
            The state of manager \(location.name.quoted), \(location.state), was forgotten through this manager. \
            The next manager is a first run.
            """
        )
    }

    package static func readOnly(_ location: StateLocation, _ version: AppVersion? = nil) -> MigrationError {
        let reason: Message =
            version.map { "Migration \($0) is pending and was not run" } ?? "Nothing was changed"
        return MigrationError(
            .readOnly,
            manager: location.name,
            version: version,
            path: location.path,
            """
            \(reason): this manager of \(location.name.quoted), \(location.state), was made with isReadOnly, and only looks. \
            Nothing was written. Make a manager without isReadOnly for it; plan and status show it without one.
            """
        )
    }

    package static func planEnded(_ location: StateLocation) -> MigrationError {
        MigrationError(
            .blocked,
            manager: location.name,
            path: location.path,
            """
            This manager was handed out for a plan of the state \(location.state), and the plan is over. \
            Declare with the manager that was asked for the plan.
            """
        )
    }

    static func resetBelowFloor(_ floor: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .overtaken,
            manager: location.name,
            version: floor,
            path: location.path,
            """
            The data of manager \(location.name.quoted), \(location.state), is for version \(floor) of the app and later; \
            this is \(current). The mark was not set. Start version \(floor). Where older data was put back in its place, \
            call forgetState(), and say with firstRun: at which version that data is.
            """
        )
    }

    static func tooNewReset(_ version: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.path,
            """
            The version \(version) of reset(to:) is newer than the app (\(current)) in manager \
            \(location.name.quoted), \(location.state). Pass the version that the data is at. \
            Nothing was run or changed.
            """
        )
    }
}
