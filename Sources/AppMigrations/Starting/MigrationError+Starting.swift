extension MigrationError {
    static func unknownCurrentVersion(_ manager: String) -> MigrationError {
        MigrationError(
            .unknownCurrentVersion,
            manager: manager,
            """
            Manager \(manager.quoted) was given no currentVersion:, and the main bundle has no \
            CFBundleShortVersionString. Nothing was run. Pass currentVersion:.
            """
        )
    }

    static func unusableDirectory(_ directory: String, manager: String, _ reason: Message) -> MigrationError {
        MigrationError(
            .unusableDirectory,
            manager: manager,
            path: directory,
            """
            The state directory \(directory.quoted) of manager \(manager.quoted) can't be used: \(reason). \
            Nothing was run or written. Pass the path of a folder as stateDirectory:.
            """
        )
    }

    package static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        MigrationError(
            .firstRunFailed,
            manager: location.name,
            path: location.path,
            underlying: cause,
            """
            The firstRun: expression of manager \(location.name.quoted) failed: \(sentence(cause)) \
            No state was written to \(location.state) and nothing was run; the next manager asks again.
            """
        )
    }

    /// The same for the answer of `firstRun:`, which an app may take from what another library left.
    static func invalidFirstRun(
        _ text: String,
        _ problem: VersionReader.Problem,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .invalidVersion,
            manager: location.name,
            path: location.path,
            """
            \(problem.description(of: text)) firstRun: of manager \(location.name.quoted) gave it. No state was written to \
            \(location.state) and nothing was run; each start asks again. Let firstRun: answer with a version that can \
            be read: the release that the text begins with, or the oldest whose data this can be.
            """
        )
    }

    static func tooNewFirstRun(_ version: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.path,
            """
            The version \(version) that firstRun: of manager \(location.name.quoted) gave is newer than the app (\(current)). \
            No state was written to \(location.state) and nothing was run; each start asks again. Where the data is a \
            newer app's, start that one; else let firstRun: answer with the version that the data is at, at most the \
            app's.
            """
        )
    }
}
