internal import AppMigrations

/// The batches of one attempt, one after the other.
///
/// The cursor in the database is the one that counts. It is a checkpoint of the state file as well, now and then: the deaths
/// of an attempt are counted before any database is opened, and a plan opens none.
final class BatchRun {
    private let table: AppMigrationsTable
    private let context: MigrationContext
    private let lockTimeout: Duration
    private let failure = ClosureFailure()

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

    @inline(never)
    func run(
        on db: any SQLConnection,
        _ batch: (MigrationBatch) throws -> MigrationBatch.Outcome
    ) throws {
        do throws(SQLError) {
            try work().run(on: db, keeping: failure) { call.outcome = try batch(call.batch) }
        } catch {
            throw failure.cause(of: error)
        }
    }

    /// The same, where the connection is awaited.
    @inline(never)
    nonisolated(nonsending) func run(
        awaiting db: any AsyncSQLConnection,
        _ batch: nonisolated(nonsending) (MigrationBatch) async throws -> MigrationBatch.Outcome
    ) async throws {
        do throws(SQLError) {
            try await work().run(awaiting: db, keeping: failure) {
                call.outcome = try await batch(call.batch)
            }
        } catch {
            throw failure.cause(of: error)
        }
    }

    private func work() -> SQLWork {
        table.find(context.version, lockTimeout: lockTimeout).noting { () throws(SQLError) in
            // A process that died right behind a commit came further than its checkpoint says.
            guard let cursor = self.table.place.cursor, cursor != self.context.checkpoint else { return }
            try self.failure.noting { try self.context.saveCheckpoint(cursor) }
        }
        .then { self.next() }
        .then { self.table.synchronize(self.context.version, lockTimeout: self.lockTimeout) }
    }

    private func next() -> SQLWork {
        if Task<Never, Never>.isCancelled { return .failed(SQLError.taskCancelled) }
        call = BatchCall(of: context.version)
        return table.runBatch(call, isFirst: !hasRun, lockTimeout: lockTimeout).then { () throws(SQLError) in
            guard let outcome = self.call.outcome else { return .nothing }
            self.hasRun = true
            guard let cursor = outcome.cursor else { return .nothing }
            try self.failure.noting { try self.tell(cursor, outcome.progress) }
            return self.next()
        }
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
