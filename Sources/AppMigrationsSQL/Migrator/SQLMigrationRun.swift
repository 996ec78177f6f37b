/// One call of `migrate`: runs the pending migrations, one after the other.
///
/// Before it calls back into the caller's code, it stores in ``callback`` what the caller should do. The
/// caller's code reads that, and stores its decision in ``answer``.
final class SQLMigrationRun {
    /// A pending migration with the text of its SQL, which is read and checked before the first migration
    /// runs.
    struct Pending {
        /// The index among all migrations.
        let index: Int
        let step: SQLStep
        /// The SQL; `nil` for a closure.
        let script: String?
        /// True if the script runs outside of a transaction.
        let runsOutsideTransaction: Bool

        var checksum: String? { script.map(SQLChecksum.of) }
    }

    /// What the caller's code should do when the run calls it.
    enum Callback {
        /// Run the closure of the migration at an index.
        case closure(index: Int, SQLMigrationProgress)
        /// Call the progress closure after a migration has run.
        case progress(SQLMigrationProgress)
        /// Call the closure `waiting`, because another process has the lock.
        case waiting
    }

    let session: any SQLSession
    let steps: SQLSteps
    private let target: Int64?
    let insideTransaction: Bool

    private(set) var callback = Callback.waiting
    var answer = SQLMigrationProgress.Answer.continue

    var report = SQLMigrationReport()
    private(set) var pending = [Pending]()
    let ledger: SQLLedger
    /// Runs a migration, and then checks foreign keys if they were on when the run began.
    var checking: ForeignKeyChecking = unchecked
    /// The number of pending migrations that other processes have run during this call.
    var appliedByOthers = 0

    init(of steps: SQLSteps, in session: any SQLSession, to target: Int64?, insideTransaction: Bool) {
        self.steps = steps
        self.session = session
        self.target = target
        self.insideTransaction = insideTransaction
        ledger = SQLLedger(session, named: steps.ledger)
    }

    /// The wait for the migrator's lock.
    // `unowned`, because this run retains the session, which may retain this closure.
    var lockWait: SQLLockWait {
        SQLLockWait(steps.lockTimeout, ledger: steps.ledger) { [unowned self] () throws(SQLError) in
            try callBack(.waiting)
        }
    }

    /// Compares the ledger with the migrations, and runs what is pending.
    func run() throws(SQLError) {
        if let target { try steps.checkTarget(target) }
        try session.withLockTimeout(steps.lockTimeout) { () throws(SQLError) in
            do throws(SQLError) {
                try session.withLockTimeout(.zero, readLedger)
            } catch {
                if error.code != .busy { throw error }
                // With a rollback journal, a writer can also block readers. So the first read doesn't wait.
                // If it fails, the caller learns of the wait, and the ledger is read again with the whole
                // wait.
                try callBack(.waiting)
                try readLedger()
            }
            try runPending()
        }
    }

    private func readLedger() throws(SQLError) {
        try ledger.readVersions(withChecksumOf: steps.all.last?.version)
    }

    private func runPending() throws(SQLError) {
        let status = SQLMigrationStatus(of: ledger, with: steps.all)
        report.unknownVersions = status.unknownVersions
        let indexes = status.pendingIndexes.filter { steps.all[$0].version <= target ?? .max }
        if indexes.isEmpty {
            if try steps.isNewestEdited(status, in: ledger) { try checkEditedVersions() }
            return
        }
        try checkEditedVersions()
        if steps.refusesOutOfOrder {
            for index in indexes {
                try refuseIfOutOfOrder(steps.all[index], newest: status.latestAppliedVersion)
            }
        }
        try prepare(indexes)
        do throws(SQLError) { try start() } catch {
            throw error.code == .statementFailed && status.applied.isEmpty
                ? addingAdviceOnEmptyLedger(to: error) : error
        }
        report.outOfOrder = report.applied.filter(status.outOfOrder.contains)
    }

    /// Lists the edited migrations in the report.
    ///
    /// Throws if another migrator wrote the ledger, or if a migration was edited and the migrator refuses
    /// that.
    private func checkEditedVersions() throws(SQLError) {
        try ledger.refuseOtherOwner(than: steps.all)
        report.editedVersions = ledger.editedVersions
        guard steps.refusesEditedVersions, let version = report.editedVersions.first,
            let step = steps.all.first(where: { $0.version == version })
        else { return }
        throw step.located(SQLError(.editedMigration, "Its SQL has changed since it was applied"))
    }

    /// Throws if a pending migration has a lower version than the newest applied one.
    func refuseIfOutOfOrder(_ step: SQLStep, newest: Int64?) throws(SQLError) {
        guard let newest, step.version < newest else { return }
        let message = "It has not been applied, but the newer version \(newest) has"
        throw step.located(SQLError(.outOfOrder, message), namingFile: false)
    }

    /// Adds advice to the error of the first migration if the ledger is empty and the database has tables.
    ///
    /// The migration probably failed because its tables exist already. Either the schema was created without
    /// the migrator, or the app has deleted the rows of all tables, including the ledger's, for example when
    /// a user logged out.
    private func addingAdviceOnEmptyLedger(to error: SQLError) -> SQLError {
        if !report.applied.isEmpty || appliedByOthers > 0 { return error }
        let tables: SQLRows
        // The first error is the one to report.
        do throws(SQLError) { tables = try session.db.query(session.tables) } catch _ { return error }
        let others = tables.filter { row in
            guard case .text(let name) = row.first else { return false }
            return SQLName(name) != SQLName(steps.ledger) && !name.hasPrefix("sqlite_")
        }
        if others.isEmpty { return error }
        return error.with {
            $0.message +=
                ". The ledger \(steps.ledger) has no rows, and the database has tables. If they are the work of migrations, record"
                + " these with markApplied(upTo:in:repairingLedger:)"
        }
    }

    /// Reads and checks the SQL of the pending migrations, before the first of them runs.
    private func prepare(_ indexes: [Int]) throws(SQLError) {
        for index in indexes {
            let step = steps.all[index]
            let script = try step.text()
            var runsOutsideTransaction = false
            do throws(SQLError) {
                if let script {
                    runsOutsideTransaction = try step.mustRunOutsideTransaction(script)
                    try session.check(script, isOutsideTransaction: runsOutsideTransaction)
                    if runsOutsideTransaction { try refuseLedger(in: SQLScript(script)) }
                }
            } catch { throw step.located(error) }
            pending.append(
                Pending(
                    index: index,
                    step: step,
                    script: script,
                    runsOutsideTransaction: runsOutsideTransaction
                )
            )
        }
    }

    private func refuseLedger(in script: SQLScript) throws(SQLError) {
        if let offset = ledger.position(in: script) {
            throw script.error(
                .refusedStatement,
                "A script outside of a transaction may not use \(ledger.name), the ledger of this migrator",
                at: offset
            )
        }
        if !steps.isOneTransaction, !insideTransaction { return }
        throw SQLError(
            .refusedStatement,
            "It must run outside of a transaction, but this call uses one transaction for all migrations. Run it by a call"
                + " without insideTransaction: true, on a migrator with transactions: .eachMigration"
        )
    }

    private func start() throws(SQLError) {
        if insideTransaction {
            try session.join(lockWait)
            try ledger.read()
            return try runAll()
        }
        try session.withoutForeignKeys { checking throws(SQLError) in
            self.checking = checking
            try session.withCommits(durable: false) { () throws(SQLError) in
                try ledger.read()
                try runAll()
            }
        }
    }

    /// Tells the fleet in whose closure `migrate` was called whether the call ran a migration.
    ///
    /// A migrator without migrations reports nothing. Call this in the caller's task, because it reads a
    /// value of that task.
    func reportEnd() {
        guard let watch = SQLConversation.watch, !steps.all.isEmpty else { return }
        watch.migratorReturned(hasRun: !report.applied.isEmpty, ledger: steps.ledger)
    }

    /// Calls back into the caller's code, which reads in ``callback`` what to do.
    func callBack(_ callback: Callback) throws(SQLError) {
        self.callback = callback
        try watchingLedger(session.db.call)
    }

    /// Runs `body`, which may write to the ledger.
    ///
    /// Afterwards the ledger's versions are read again before they are used, unless the connection can tell
    /// that `body` didn't write to the ledger.
    func watchingLedger(_ body: SQLOperation) throws(SQLError) {
        let isUnwritten = try session.isKnownUnwritten(steps.ledger, after: body)
        if !isUnwritten { ledger.dataVersionOfVersions = nil }
    }

    /// Throws if the task was cancelled.
    func checkCancellation() throws(SQLError) {
        if session.db.isCancelled { throw SQLError.taskCancelled }
    }

    /// Stores the caller's answer to a progress report of a closure, and throws unless it is `continue`.
    func continueOrThrow(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
        self.answer = answer
        if answer != .continue { throw SQLError(.stopped, "The progress closure answered .\(answer)") }
    }

    /// Throws if the progress closure answered `rollBack`.
    func throwIfRolledBack() throws(SQLError) {
        if answer == .rollBack { throw stopped }
    }

    /// Throws if the progress closure answered `stop` and migrations are left.
    func throwIfStopped() throws(SQLError) {
        let isComplete = report.applied.count >= pending.count - appliedByOthers
        if answer == .stop, !isComplete { throw stopped }
    }

    private var stopped: SQLError {
        failure(SQLError(.stopped, "The progress closure answered .\(answer)"), of: nil)
    }

    /// Returns an error with the migration that failed, the versions that stay applied, and the versions that
    /// were edited.
    func failure(_ error: SQLError, of next: Pending?, namingFile: Bool = true) -> SQLError {
        let located = error.version == nil ? next?.step.located(error, namingFile: namingFile) : nil
        return (located ?? error).with {
            $0.applied = report.applied
            $0.editedVersions = report.editedVersions
        }
    }
}
