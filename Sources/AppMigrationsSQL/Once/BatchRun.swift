internal import AppMigrations

/// The batches of one attempt, one after the other.
///
/// The cursor in the database is the one that counts. It is a checkpoint of the state file as well, now and then: the deaths
/// of an attempt are counted before any database is opened, and a plan opens none.
struct BatchRun {
    let db: any SQLConnection
    let table: AppMigrationsTable
    let context: MigrationContext
    let lockTimeout: Duration

    /// Whether a batch was run by this attempt.
    private(set) var hasRun = false

    /// The progress at the last checkpoint of this attempt.
    private var saved: Double?

    init(
        on db: any SQLConnection,
        _ table: AppMigrationsTable,
        _ context: MigrationContext,
        lockTimeout: Duration
    ) {
        self.db = db
        self.table = table
        self.context = context
        self.lockTimeout = lockTimeout
    }

    mutating func run(_ batch: (MigrationBatch) throws -> MigrationBatch.Outcome) throws {
        // A process that died right behind a commit came further than its checkpoint says.
        try table.find(context.version, lockTimeout: lockTimeout).run(on: db)
        if let cursor = table.place.cursor, cursor != context.checkpoint {
            try context.saveCheckpoint(cursor)
        }
        while true {
            try Task<Never, Never>.checkCancellation()
            guard let outcome = try next(batch) else { break }
            hasRun = true
            guard let cursor = outcome.cursor else { break }
            try tell(cursor, outcome.progress)
        }
        do throws(SQLError) {
            try table.synchronize(context.version, lockTimeout: lockTimeout).run(on: db)
        } catch {
            throw ClosureFailure().cause(of: error)
        }
    }

    /// What one batch returned; `nil` where nothing was left to do.
    private func next(_ batch: (MigrationBatch) throws -> MigrationBatch.Outcome) throws -> MigrationBatch
        .Outcome?
    {
        let one = BatchCall(of: context.version)
        let failure = ClosureFailure()
        do throws(SQLError) {
            try table.runBatch(one, isFirst: !hasRun, lockTimeout: lockTimeout).run(on: db, keeping: failure)
            {
                one.outcome = try batch(MigrationBatch(cursor: one.cursor, version: one.version))
            }
        } catch {
            throw failure.cause(of: error)
        }
        return one.outcome
    }

    /// Saves the first cursor of an attempt, then one for each tenth of the work: a save takes as long as a commit.
    private mutating func tell(_ cursor: String, _ progress: Double?) throws(MigrationError) {
        if let saved, progress ?? 0 < saved + 0.1 {
            if let progress { context.reportProgress(progress) }
        } else {
            saved = progress ?? 0
            try context.saveCheckpoint(cursor, progress: progress)
        }
    }
}
