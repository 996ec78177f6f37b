extension MigrationManager {
    /// The data that exists when a manager has no state yet.
    public enum FirstRun: Sendable, Equatable {
        /// There is no data.
        ///
        /// The current version is recorded as the baseline, and nothing runs.
        ///
        /// Sub-migrations of the current version also belong to the baseline, no matter which manager or
        /// process declares them. This ends after a first start: when the app has declared at least one
        /// version, no error has closed the manager, and the manager has been released.
        ///
        /// A sub-migration that you add after that does run, for example `1.4-3` in a later build of version
        /// 1.4.
        case freshInstall

        /// There is data from before the app used this library, in the form in which the given version left
        /// it.
        ///
        /// All migrations after that version run.
        ///
        /// If your released 2.0 already did the work of 2.0-1, pass `existingData(at: "2.0-1")`. If 2.0-1
        /// repairs data that 2.0 wrote, pass `"2.0"`.
        case existingData(at: String)

        /// The migrations create the data from scratch.
        ///
        /// All migrations run.
        case everything
    }
}
