extension MigrationManager {
    /// What data there is when a subsystem has no state yet.
    public enum FirstRun: Sendable, Equatable {
        /// None: the current version is recorded as the baseline, and nothing runs. Sub-migrations of the current
        /// version that are declared through the manager that made the state belong to the baseline too.
        case freshInstall

        /// Data as the given version left it, older than this library: everything after that version runs.
        case existingData(at: String)

        /// A subsystem that builds itself through its migrations: everything runs.
        case everything
    }
}

extension MigrationManager {
    /// How a start relates to the last one.
    public enum Launch: Sendable, Equatable {
        /// There was no state.
        case first

        /// The same version was started before.
        case same

        /// An older version was started before.
        case upgrade(from: AppVersion)

        /// A newer version was started, or ran migrations, before: nothing runs.
        case downgrade(from: AppVersion)
    }
}

extension StateMarks {
    /// How a start of `current` relates to the last one.
    package func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: newest(above: current)) }
        return current > launched ? .upgrade(from: launched) : .same
    }
}
