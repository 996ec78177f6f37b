import AppMigrations

/// One start of the app within a run.
struct Launch {
    let manager: MigrationManager
    /// The path of the data.
    let folder: String
    let recorder: LaunchRecorder
    let began = ContinuousClock.now
}
