extension MigrationManager {
    /// The data that exists when a subsystem has no state yet.
    public enum FirstRun: Sendable, Equatable {
        /// There is no data.
        ///
        /// The current version is recorded as the baseline, and nothing runs.
        ///
        /// Sub-migrations of the current version belong to the baseline too, whichever manager or process
        /// declares them, until a first start got through its declarations. A start gets through when its
        /// manager declared something, was closed by no error, and is released. A sub-migration that is added
        /// later runs, for example `1.4-3` in version 1.4.
        case freshInstall

        /// There is data as the given version left it, from before the app used this library.
        ///
        /// Everything after that version runs.
        ///
        /// If your released 2.0 already did the work of 2.0-1, pass `existingData(at: "2.0-1")`. If 2.0-1
        /// repairs data that 2.0 wrote, pass `"2.0"`.
        case existingData(at: String)

        /// The subsystem builds its data by its migrations.
        ///
        /// Everything runs.
        case everything
    }
}
