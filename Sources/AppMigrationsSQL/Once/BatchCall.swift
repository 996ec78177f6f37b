internal import AppMigrations

/// One batch: where it begins, and what its closure returned.
final class BatchCall {
    let version: AppVersion
    var cursor: String?
    /// `nil` where nothing was left to do.
    var outcome: MigrationBatch.Outcome?

    init(of version: AppVersion) { self.version = version }
}
