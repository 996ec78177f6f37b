internal import AppMigrations

/// The batches of one attempt, one after the other.
///
/// The cursor in the database is the one that counts. It is a checkpoint of the state file as well, now and then: the deaths
/// of an attempt are counted before any database is opened, and a plan opens none.
struct BatchRun {
    let table: AppMigrationsTable
    let context: MigrationContext
    let lockTimeout: Duration

    /// Whether a batch was run by this attempt.
    private(set) var hasRun = false

    /// The progress at the last checkpoint of this attempt.
    private var saved: Double?

    init(_ table: AppMigrationsTable, _ context: MigrationContext, lockTimeout: Duration) {
        self.table = table
        self.context = context
        self.lockTimeout = lockTimeout
    }

    mutating func run(_ batch: (MigrationBatch) throws -> MigrationBatch.Outcome) throws {
        // A process that died right behind a commit came further than its checkpoint says.
        if let cursor = try table.find(context.version, lockTimeout: lockTimeout).cursor,
            cursor != context.checkpoint
        {
            try context.saveCheckpoint(cursor)
        }
        while true {
            try Task<Never, Never>.checkCancellation()
            let outcome = try table.runBatch(
                context.version,
                isFirst: !hasRun,
                lockTimeout: lockTimeout
            ) { cursor in
                try batch(MigrationBatch(cursor: cursor, version: context.version))
            }
            guard let outcome else { break }
            hasRun = true
            guard let cursor = outcome.cursor else { break }
            try tell(cursor, outcome.progress)
        }
        try table.synchronize(context.version, lockTimeout: lockTimeout)
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
