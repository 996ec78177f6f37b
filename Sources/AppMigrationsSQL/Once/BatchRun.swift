internal import AppMigrations

/// The batches of one attempt, one after the other.
///
/// The cursor in the database is the one that counts. It is a checkpoint of the state file as well, now and then: the deaths
/// of an attempt are counted before any database is opened, and a plan opens none.
final class BatchRun {
    private let table: AppMigrationsTable
    private let context: MigrationContext
    private let lockTimeout: Duration

    /// Whether a batch was run by this attempt.
    private(set) var hasRun = false

    /// The batch under way.
    private var call: BatchCall

    /// The progress at the last checkpoint of this attempt.
    private var saved: Double?

    init(_ table: AppMigrationsTable, _ context: MigrationContext, lockTimeout: Duration) {
        self.table = table
        self.context = context
        self.lockTimeout = lockTimeout
        call = BatchCall(of: context.version)
    }

    /// What the caller's task does for each batch.
    func call(_ batch: (MigrationBatch) throws -> MigrationBatch.Outcome) throws {
        call.outcome = try batch(call.batch)
    }

    nonisolated(nonsending) func call(
        _ batch: nonisolated(nonsending) (MigrationBatch) async throws -> MigrationBatch.Outcome
    ) async throws {
        call.outcome = try await batch(call.batch)
    }

    /// Runs batches until one was the last.
    func run() throws(SQLError) {
        let db = table.session.db
        let begun = try table.cursor(of: context.version, lockTimeout: lockTimeout)
        // A process that died right behind a commit came further than its checkpoint says.
        if let begun, begun != context.checkpoint {
            try db.inTask { try self.context.saveCheckpoint(begun) }
        }
        while true {
            if db.isCancelled { throw SQLError.taskCancelled }
            call = BatchCall(of: context.version)
            try table.runBatch(call, isFirst: !hasRun, lockTimeout: lockTimeout)
            guard let outcome = call.outcome else { break }
            hasRun = true
            guard let cursor = outcome.cursor else { break }
            try db.inTask { try self.tell(cursor, outcome.progress) }
        }
        try table.synchronize(context.version, lockTimeout: lockTimeout)
    }

    /// Saves the first cursor of an attempt, then one for each tenth of the work: a save takes as long as a commit.
    private func tell(_ cursor: String, _ progress: Double?) throws(MigrationError) {
        if let saved, progress ?? 0 < saved + 0.1 {
            if let progress { context.reportProgress(progress) }
        } else {
            saved = progress ?? 0
            try context.saveCheckpoint(cursor, progress: progress)
        }
    }
}

/// One batch: where it begins, and what its closure returned.
final class BatchCall {
    let version: AppVersion
    var cursor: String?
    /// `nil` where nothing was left to do.
    var outcome: MigrationBatch.Outcome?

    var batch: MigrationBatch { MigrationBatch(cursor: cursor, version: version) }

    init(of version: AppVersion) { self.version = version }
}
