/// What a status holds, apart from its type: this code would lie among that of a start.
extension MigrationStatus {
    final class Facts: Sendable {
        let name: String
        let appVersion: AppVersion
        let stateFile: String
        let marks: Marks?
        let interruption: Attempt?
        let attempted: [Attempt]
        let history: [AppliedMigration]

        init(
            _ name: String,
            _ appVersion: AppVersion,
            _ stateFile: String,
            _ marks: Marks?,
            _ interruption: Attempt?,
            _ attempted: [Attempt],
            _ history: [AppliedMigration]
        ) {
            self.name = name
            self.appVersion = appVersion
            self.stateFile = stateFile
            self.marks = marks
            self.interruption = interruption
            self.attempted = attempted
            self.history = history
        }
    }

    final class Marks: Sendable {
        let lastRun: AppVersion
        let baseline: AppVersion
        let launched: AppVersion
        let minimumAppVersion: AppVersion?

        init(
            _ lastRun: AppVersion,
            _ baseline: AppVersion,
            _ launched: AppVersion,
            _ minimumAppVersion: AppVersion?
        ) {
            self.lastRun = lastRun
            self.baseline = baseline
            self.launched = launched
            self.minimumAppVersion = minimumAppVersion
        }
    }

    /// The name of the manager.
    public var managerName: String { facts.name }

    /// The version of the app that asked.
    public var appVersion: AppVersion { facts.appVersion }

    /// The path of the state file.
    public var stateFile: String { facts.stateFile }

    /// Whether there is a state; without one the versions are `nil`, and the lists are empty.
    public var hasState: Bool { facts.marks != nil }

    /// The version up to which everything has run.
    public var lastRunVersion: AppVersion? { facts.marks?.lastRun }

    /// The version of the data when the state was made or reset.
    public var baseline: AppVersion? { facts.marks?.baseline }

    /// The newest version of the app that was started on this data.
    public var launchedVersion: AppVersion? { facts.marks?.launched }

    /// The oldest version of the app that may use the data; `nil` where every version may.
    public var minimumAppVersion: AppVersion? { facts.marks?.minimumAppVersion }

    /// The same, where it lies above the version of the app that asked: this one may not use the data.
    public var requiredAppVersion: AppVersion? {
        guard let minimumAppVersion, minimumAppVersion.exceeds(appVersion) else { return nil }
        return minimumAppVersion
    }

    /// The migration whose closure was begun last and isn't recorded.
    public var interruption: Attempt? { facts.interruption }

    /// What is known of other versions that were begun and are still pending.
    public var attempted: [Attempt] { facts.attempted }

    /// The migrations that ran here, the oldest first, at most the newest 1,000.
    public var history: [AppliedMigration] { facts.history }
}
