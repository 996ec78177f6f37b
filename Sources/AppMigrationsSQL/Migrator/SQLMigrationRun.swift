/// One call of `migrate`: runs the pending migrations, one after the other.
///
/// It also holds the reason for which the caller's task is called, and the caller's answer.
final class SQLMigrationRun {
    /// A pending migration with the text of its SQL, which is read and checked before the first migration
    /// runs.
    struct Pending {
        /// The index among all migrations.
        let place: Int
        let step: SQLStep
        /// `nil` for a closure.
        let script: String?
        /// True if the script runs outside of a transaction.
        let isAlone: Bool

        var checksum: String? { script.map(SQLChecksum.of) }
    }

    /// The reasons for which the caller's task is called.
    enum Call {
        /// To run the closure of the migration at an index.
        case closure(_ place: Int, SQLMigrationProgress)
        /// To report that a migration has run.
        case progress(SQLMigrationProgress)
        /// To report that another process has the lock.
        case waiting
    }

    let session: any SQLSession
    let steps: SQLSteps
    private let target: Int64?
    let insideTransaction: Bool

    private(set) var call = Call.waiting
    var answer = SQLMigrationProgress.Answer.continue

    var report = SQLMigrationReport()
    private(set) var pending = [Pending]()
    let ledger: SQLLedger
    /// Checks foreign keys after each migration, if they were on.
    var checking: SQLChecking = unchecked
    /// The number of pending migrations that another process ran.
    var appliedByOthers = 0

    init(of steps: SQLSteps, in session: any SQLSession, to target: Int64?, insideTransaction: Bool) {
        self.steps = steps
        self.session = session
        self.target = target
        self.insideTransaction = insideTransaction
        ledger = SQLLedger(session, named: steps.ledger)
    }

    // `unowned`, because this run retains the session, which may retain this closure.
    var lock: SQLLockWait {
        SQLLockWait(steps.lockTimeout, ledger: steps.ledger) { [unowned self] () throws(SQLError) in
            try call(.waiting)
        }
    }

    /// Compares the ledger with the migrations, and runs what is pending.
    func run() throws(SQLError) {
        if let target { try steps.checkTarget(target) }
        try session.waiting(steps.lockTimeout) { () throws(SQLError) in
            do throws(SQLError) {
                try session.waiting(.zero) { () throws(SQLError) in try ledger.readFirst() }
            } catch {
                if error.code != .busy { throw error }
                // With a rollback journal, a lock can also block readers.
                try call(.waiting)
                try ledger.readFirst()
            }
            try compare()
        }
    }

    private func compare() throws(SQLError) {
        let status = SQLMigrationStatus(of: ledger, with: steps.all)
        report.unknown = status.unknown
        let places = status.places.filter { steps.all[$0].version <= target ?? .max }
        if places.isEmpty {
            if try steps.hasOtherText(newestOf: status, in: ledger) { try recordChanges() }
            return
        }
        try recordChanges()
        if steps.refusesOutOfOrder {
            for place in places { try refuse(steps.all[place], below: status.currentVersion) }
        }
        try prepare(places)
        do throws(SQLError) { try start() } catch {
            throw error.code == .statementFailed && status.applied.isEmpty
                ? addingAdviceOnEmptyLedger(to: error) : error
        }
        report.outOfOrder = report.applied.filter(status.outOfOrder.contains)
    }

    /// Records which versions have SQL that was edited after it was applied; throws if the ledger is another
    /// migrator's.
    private func recordChanges() throws(SQLError) {
        try ledger.refuseOtherOwner(than: steps.all)
        report.changed = ledger.changed
        guard steps.refusesChanged, let version = report.changed.first,
            let step = steps.all.first(where: { $0.version == version })
        else { return }
        throw step.located(SQLError(.changedMigration, "Its SQL has changed since it was applied"))
    }

    /// Refuses a pending migration below the newest version that was applied already.
    func refuse(_ step: SQLStep, below newest: Int64?) throws(SQLError) {
        guard let newest, step.version < newest else { return }
        let message = "It is pending, and the newer version \(newest) was applied already"
        throw step.located(SQLError(.outOfOrder, message), blamesFile: false)
    }

    /// If the database has tables and the ledger is empty, adds that to the error of the first migration.
    ///
    /// Either the schema was created without the migrator, or the app has deleted the rows of all tables, for
    /// example when a user logged out. So the first migration fails because its tables exist.
    private func addingAdviceOnEmptyLedger(to error: SQLError) -> SQLError {
        if !report.applied.isEmpty || appliedByOthers > 0 { return error }
        let tables: SQLRows
        do throws(SQLError) { tables = try session.db.query(session.tables) } catch { return error }
        let others = tables.filter { row in
            guard case .text(let name) = row.first else { return false }
            return SQLName(name) != SQLName(steps.ledger) && !name.hasPrefix("sqlite_")
        }
        if others.isEmpty { return error }
        return error.with {
            $0.message +=
                ". The ledger \(steps.ledger) has no rows, and the database has tables. If they are the work of migrations, record"
                + " these with markApplied(upTo:in:correcting:)"
        }
    }

    private func prepare(_ places: [Int]) throws(SQLError) {
        for place in places {
            let step = steps.all[place]
            let script = try step.text()
            var isAlone = false
            do throws(SQLError) {
                if let script {
                    try session.check(script)
                    isAlone = try step.runsAlone(script)
                    if isAlone { try checkAlone(script) }
                }
            } catch { throw step.located(error) }
            pending.append(Pending(place: place, step: step, script: script, isAlone: isAlone))
        }
    }

    private func checkAlone(_ script: String) throws(SQLError) {
        try session.checkAlone(script)
        if !steps.isOneTransaction, !insideTransaction { return }
        throw SQLError(
            .refusedStatement,
            "It runs outside of a transaction, and this call has one for all migrations. Run it by a call without"
                + " insideTransaction: and without Transactions.all"
        )
    }

    private func start() throws(SQLError) {
        if insideTransaction {
            try session.join(lock)
            try ledger.read()
            return try runAll()
        }
        try session.withoutForeignKeys { checking throws(SQLError) in
            self.checking = checking
            try session.lasting(durably: false) { () throws(SQLError) in
                try ledger.read()
                try runAll()
            }
        }
    }

    /// Calls the caller's task for a reason.
    func call(_ reason: Call) throws(SQLError) {
        call = reason
        try watchingLedger(session.db.call)
    }

    /// Runs `body`, after which the ledger is read again unless it surely wasn't written.
    func watchingLedger(_ body: SQLRules) throws(SQLError) {
        let isUnwritten = try session.leavesUnwritten(steps.ledger, while: body)
        if !isUnwritten { ledger.versionsAreCurrentAt = nil }
    }

    /// Throws if the task was cancelled.
    func checkCancellation() throws(SQLError) {
        if session.db.isCancelled { throw SQLError.taskCancelled }
    }

    /// Throws if a migration that reports its progress must not go on.
    func checkReport(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
        self.answer = answer
        if answer != .continue { throw SQLError(.stopped, "The progress closure answered .\(answer)") }
    }

    /// Throws if the progress closure returned `end` and migrations are left.
    func checkAnswer(_ end: SQLMigrationProgress.Answer) throws(SQLError) {
        let isComplete = report.applied.count >= pending.count - appliedByOthers
        if answer != end || end == .stop && isComplete { return }
        throw failure(SQLError(.stopped, "The progress closure answered .\(answer)"), of: nil)
    }

    /// Adds to an error the migration that failed, the versions that stay applied, and those that were
    /// edited.
    func failure(_ error: SQLError, of next: Pending?, blamesFile: Bool = true) -> SQLError {
        let located = error.version == nil ? next?.step.located(error, blamesFile: blamesFile) : nil
        return (located ?? error).with {
            $0.applied = report.applied
            $0.changed = report.changed
        }
    }
}
