/// The errors of versions that can't be read, and of those that lie above the app's.
extension MigrationError {
    static func invalidVersion(
        _ text: String,
        _ problem: AppVersion.TextProblem,
        manager: String? = nil
    ) -> MigrationError {
        let end = manager.map { " Nothing was run by manager \(quoted($0))." } ?? ""
        return MigrationError(.invalidVersion, manager: manager, unreadable(text, problem) + end)
    }

    /// The same for the answer of `firstRun:`, which an app may take from what another library left.
    static func invalidFirstRun(
        _ text: String,
        _ problem: AppVersion.TextProblem,
        _ location: StateLocation
    ) -> MigrationError {
        MigrationError(
            .invalidVersion,
            manager: location.name,
            path: location.state,
            unreadable(text, problem)
                + " firstRun: of manager \(quoted(location.name)) gave it. No state was written to "
                + "\(location.state) and nothing was run; each start asks again. Let firstRun: answer with a version that can "
                + "be read: the release that the text begins with, or the oldest whose data this can be."
        )
    }

    private static func unreadable(_ text: String, _ problem: AppVersion.TextProblem) -> String {
        let grammar =
            "A version is numbers divided by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2."
        let subject = "The version \(quoted(text)) can't be read"
        let reason =
            switch problem.kind {
            case .empty: "it is empty"
            case .digitExpected: "a digit is missing at character \(problem.offset + 1)"
            case .unexpectedCharacter:
                "character \(problem.offset + 1) is not a digit, a dot or a hyphen that may stand there"
            case .secondSubNumber: "character \(problem.offset + 1) begins a second sub-number"
            case .tooLarge: "the number at character \(problem.offset + 1) is over \(UInt64.max)"
            }
        return "\(subject): \(reason). \(grammar)"
    }

    static func newer(_ version: AppVersion, current: AppVersion, _ location: StateLocation) -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.state,
            "Version \(version) is newer than the app (\(current)) in manager \(quoted(location.name)), "
                + "\(location.state). Raise the app's version or remove the migration. It was not run."
        )
    }

    static func tooNewFirstRun(_ version: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.state,
            "The version \(version) that firstRun: of manager \(quoted(location.name)) gave is newer than the app (\(current)). "
                + "No state was written to \(location.state) and nothing was run; each start asks again. Where the data is a "
                + "newer app's, start that one; else let firstRun: answer with the version that the data is at, at most the "
                + "app's."
        )
    }

    static func tooNewReset(_ version: AppVersion, current: AppVersion, _ location: StateLocation)
        -> MigrationError
    {
        MigrationError(
            .newerThanCurrentVersion,
            manager: location.name,
            version: version,
            path: location.state,
            "The version \(version) of reset(to:) is newer than the app (\(current)) in manager "
                + "\(quoted(location.name)), \(location.state). Pass the version that the data is at. "
                + "Nothing was run or changed."
        )
    }
}
