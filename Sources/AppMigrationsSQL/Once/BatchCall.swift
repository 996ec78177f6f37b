internal import AppMigrations

/// One batch: where it begins, and what its closure returned.
final class BatchCall {
    let version: AppVersion
    var cursor: String?
    /// `nil` where nothing was left to do.
    var outcome: MigrationBatch.Outcome?

    var batch: MigrationBatch { MigrationBatch(cursor: cursor, version: version) }

    init(of version: AppVersion) { self.version = version }
}
