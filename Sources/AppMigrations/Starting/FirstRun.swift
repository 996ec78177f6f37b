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
