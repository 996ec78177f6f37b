package import AppMigrations

/// Runs the batches of one attempt, one after the other.
///
/// The cursor in the database decides where a batch begins. From time to time the cursor is also saved as a
/// checkpoint in the state file. Two things need it there, because they don't open the database: the count of
/// an attempt's crashes, and a plan, which shows the progress.
package final class BatchRun {
    /// The cursor that the batches have reached.
    package struct ReachedCursor {
        package let cursor: String
        package let progress: Double?
        /// True if it should be saved in the state file.
        ///
        /// Not every cursor is saved, because a save takes as long as a commit.
        package let isCheckpoint: Bool
    }

    /// What the caller's code should do when the run calls it: run a batch, or record the cursor.
    enum Request {
        case batch(MigrationBatch)
        case record(ReachedCursor)
    }

    private let table: AppMigrationsTable
    private let version: AppVersion

    /// True if a batch was run by this attempt.
    private(set) var hasRun = false

    private(set) var request: Request

    /// The closure's answer for the last batch; `nil` if no batch was left to do.
    var outcome: MigrationBatch.Outcome?

    /// The progress at the last checkpoint of this attempt.
    private var savedProgress: Double?

    /// How many times a batch is tried again after a deadlock or a serialization failure.
    private static var repetitions: Int { 3 }

    init(of version: AppVersion, in table: AppMigrationsTable) {
        self.table = table
        self.version = version
        request = .batch(MigrationBatch(cursor: nil, version: version))
    }

    /// Runs the batches of a version on a connection that was opened for them, and closes it even if they
    /// fail.
    ///
    /// `checkpoint` is the cursor in the state file when the attempt began. `record` is called with each
    /// cursor that the batches reach.
    ///
    /// - Returns: True if a batch ran.
    package nonisolated(nonsending) static func run<Connection: AsyncSQLConnection>(
        closing db: Connection,
        ledger: String,
        of manager: String,
        _ version: AppVersion,
        from checkpoint: String?,
        lockTimeout: Duration,
        recording record: nonisolated(nonsending) (ReachedCursor) async throws -> Void,
        _ batch: nonisolated(nonsending) (MigrationBatch) async throws -> MigrationBatch.Outcome
    ) async throws -> Bool {
        let session = Connection.dialect.makeSession(SQLConversation(nil))
        let table = AppMigrationsTable(session, named: ledger, of: manager, lockTimeout: lockTimeout)
        let run = BatchRun(of: version, in: table)
        try await session.db.run(closing: db) {
            switch run.request {
            case .batch(let next): run.outcome = try await batch(next)
            case .record(let reached): try await record(reached)
            }
        } _: { () throws(SQLError) in
            try run.run(from: checkpoint)
        }
        return run.hasRun
    }

    /// The note of the event `finished`, if no batch of a version was left to run.
    ///
    /// The log has to say so, because after a reset, rows that were written since the last batch stay as they
    /// are.
    package static func finalNote(of version: AppVersion, in ledger: String) -> String {
        "no batch ran, because \(ledger) says that all batches of \(version) have ended"
    }

    /// Runs batches until the last one.
    func run(from checkpoint: String?) throws(SQLError) {
        var cursor: String?
        try table.session.withLockTimeout(table.lockTimeout) { () throws(SQLError) in
            try table.read()
            if table.hasColumn("cursor") { cursor = try table.state(of: version).cursor }
        }
        // If a process crashed right after a commit, the cursor in the database is ahead of the checkpoint.
        if let cursor, cursor != checkpoint {
            try report(ReachedCursor(cursor: cursor, progress: nil, isCheckpoint: true))
        }
        while true {
            if table.session.db.isCancelled { throw SQLError.taskCancelled }
            try runBatch(repetitions: Self.repetitions)
            guard let outcome else { break }
            hasRun = true
            guard let cursor = outcome.cursor else { break }
            try report(cursor, progress: outcome.progress)
        }
        try table.synchronize(version)
    }

    private func runBatch(repetitions: Int) throws(SQLError) {
        do throws(SQLError) { try runBatch() } catch {
            guard repetitions > 0, SQLError.isConcurrencyFailure(error.sqlState) else { throw error }
            table.session.db.pause(.milliseconds(200 / repetitions))
            try runBatch(repetitions: repetitions - 1)
        }
    }

    /// Calls the closure of one batch in a transaction that also writes its cursor, unless the last batch has
    /// run.
    ///
    /// Foreign keys stay as they are, because checking for rows that refer to missing rows would read the
    /// whole database.
    private func runBatch() throws(SQLError) {
        let session = table.session
        outcome = nil
        try session.withLockTimeout(table.lockTimeout) { () throws(SQLError) in
            try table.transaction(durably: false) { () throws(SQLError) in
                if !hasRun { try table.createOrUpgrade() }
                let state = try table.state(of: version)
                if state == .done { return }
                request = .batch(MigrationBatch(cursor: state.cursor, version: version))
                try session.guardingTransaction { () throws(SQLError) in try session.db.call() }
                guard let outcome else { return }
                try outcome.check(after: state, of: version)
                if state == .new {
                    try table.add(version, at: outcome.cursor)
                } else {
                    try table.move(version, to: outcome.cursor)
                }
            }
        }
    }

    /// Reports a cursor to the caller.
    ///
    /// The first cursor of an attempt is saved as a checkpoint, and then each one at which the progress has
    /// grown by a tenth. A progress that isn't a number counts as 0.
    private func report(_ cursor: String, progress: Double?) throws(SQLError) {
        let fraction = if let progress, !progress.isNaN { progress } else { 0.0 }
        let isCheckpoint = savedProgress.map { fraction >= $0 + 0.1 } ?? true
        if isCheckpoint { savedProgress = fraction }
        try report(ReachedCursor(cursor: cursor, progress: progress, isCheckpoint: isCheckpoint))
    }

    private func report(_ reached: ReachedCursor) throws(SQLError) {
        request = .record(reached)
        try table.session.db.call()
    }
}

extension MigrationContext {
    /// Records the cursor that the batches have reached, after the commit of a batch.
    func record(_ reached: BatchRun.ReachedCursor) throws(MigrationError) {
        // A rehearsal (a test that simulates crashes) can end the process here.
        observe(.afterCommit)
        if reached.isCheckpoint {
            try saveCheckpoint(reached.cursor, progress: reached.progress)
        } else if let progress = reached.progress {
            reportProgress(progress)
        }
    }
}
