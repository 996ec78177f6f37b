package import AppMigrations

/// The batches of one attempt, one after the other.
///
/// The cursor in the database is the one that counts. It is a checkpoint of the state as well, now and then: the deaths
/// of an attempt are counted before any database is opened, and a plan opens none.
package final class BatchRun {
    /// How far the batches have come.
    package struct Place {
        package let cursor: String
        package let progress: Double?
        /// True if it is to be saved: a save takes as long as a commit.
        package let isCheckpoint: Bool
    }

    /// The questions to the caller's task: to run a batch, or to take down how far they came.
    enum Question {
        case batch(MigrationBatch)
        case place(Place)
    }

    private let table: AppMigrationsTable
    private let version: AppVersion

    /// True if a batch was run by this attempt.
    private(set) var hasRun = false

    private(set) var question: Question

    /// The answer to a batch; `nil` where nothing was left to do.
    var outcome: MigrationBatch.Outcome?

    /// The progress at the last checkpoint of this attempt.
    private var saved: Double?

    /// How often a batch is tried again that met a deadlock or a serialization failure.
    private static var repetitions: Int { 3 }

    init(_ table: AppMigrationsTable, _ version: AppVersion) {
        (self.table, self.version) = (table, version)
        question = .batch(MigrationBatch(cursor: nil, version: version))
    }

    /// Runs the batches of a version on a connection that was made for them, which is closed in every case; tells whether one ran.
    ///
    /// `checkpoint` is the one that the attempt began with.
    package nonisolated(nonsending) static func run<Connection: AsyncSQLConnection>(
        closing db: Connection,
        ledger: String,
        of manager: String,
        _ version: AppVersion,
        from checkpoint: String?,
        lockTimeout: Duration,
        telling tell: nonisolated(nonsending) (Place) async throws -> Void,
        _ batch: nonisolated(nonsending) (MigrationBatch) async throws -> MigrationBatch.Outcome
    ) async throws -> Bool {
        let session = Connection.dialect.session(SQLConversation(nil))
        let table = AppMigrationsTable(session, named: ledger, of: manager, lockTimeout: lockTimeout)
        let run = BatchRun(table, version)
        try await session.db.run(closing: db) {
            switch run.question {
            case .batch(let next): run.outcome = try await batch(next)
            case .place(let place): try await tell(place)
            }
        } _: { () throws(SQLError) in
            try run.run(from: checkpoint)
        }
        return run.hasRun
    }

    /// Runs batches until one was the last.
    func run(from checkpoint: String?) throws(SQLError) {
        var cursor: String?
        try table.session.waiting(table.lockTimeout) { () throws(SQLError) in
            try table.read()
            if table.columns.contains("cursor") { cursor = try table.look(for: version).cursor }
        }
        // A process that died right behind a commit came further than its checkpoint says.
        if let cursor, cursor != checkpoint {
            try tell(Place(cursor: cursor, progress: nil, isCheckpoint: true))
        }
        while true {
            if table.session.db.isCancelled { throw SQLError.taskCancelled }
            try runBatch(repetitions: Self.repetitions)
            guard let outcome else { break }
            hasRun = true
            guard let cursor = outcome.cursor else { break }
            try tell(cursor, outcome.progress)
        }
        try table.synchronize(version)
    }

    private func runBatch(repetitions: Int) throws(SQLError) {
        do throws(SQLError) { try runBatch() } catch {
            guard repetitions > 0, SQLError.isOfConcurrency(error.sqlState) else { throw error }
            table.session.db.pause(.milliseconds(200 / repetitions))
            try runBatch(repetitions: repetitions - 1)
        }
    }

    /// Calls the closure of one batch in a transaction that also writes its cursor, unless the last batch has run.
    ///
    /// Foreign keys stay as they are: to look for rows that refer to none takes a look at the whole database.
    private func runBatch() throws(SQLError) {
        let session = table.session
        outcome = nil
        try session.waiting(table.lockTimeout) { () throws(SQLError) in
            try table.transaction(durably: false) { () throws(SQLError) in
                if !hasRun { try table.createIfNeeded() }
                let place = try table.look(for: version)
                if place == .done { return }
                question = .batch(MigrationBatch(cursor: place.cursor, version: version))
                try session.behindSavepoint { () throws(SQLError) in try session.db.call() }
                guard let outcome else { return }
                try outcome.check(after: place, of: version)
                try place == .new
                    ? table.add(version, at: outcome.cursor) : table.move(version, to: outcome.cursor)
            }
        }
    }

    /// Saves the first cursor of an attempt, then one for each tenth of the work.
    private func tell(_ cursor: String, _ progress: Double?) throws(SQLError) {
        let isCheckpoint = saved.map { progress ?? 0 >= $0 + 0.1 } ?? true
        if isCheckpoint { saved = progress ?? 0 }
        try tell(Place(cursor: cursor, progress: progress, isCheckpoint: isCheckpoint))
    }

    private func tell(_ place: Place) throws(SQLError) {
        question = .place(place)
        try table.session.db.call()
    }
}

extension MigrationContext {
    /// Takes down how far the batches came, behind the commit of one.
    func reach(_ place: BatchRun.Place) throws(MigrationError) {
        reachRehearsalPoint(.afterCommit)
        if place.isCheckpoint {
            try saveCheckpoint(place.cursor, progress: place.progress)
        } else if let progress = place.progress {
            reportProgress(progress)
        }
    }
}
