/// One call of `migrate`: the migrations that were pending when it began, one after the other.
///
/// Beside it are notes: what the caller is called for, and what it answered.
final class SQLMigrationRun {
    /// A pending migration with the text of its SQL, read and checked before the first one runs.
    struct Pending {
        let place: Int
        let step: SQLStep
        /// `nil` for a closure.
        let script: String?
        /// True if the script runs outside of a transaction.
        let isAlone: Bool

        var checksum: String? { script.map(SQLChecksum.of) }
    }

    /// The questions for which the caller is called.
    enum Call {
        /// To run the closure of the migration at a place.
        case closure(_ place: Int, SQLMigrationProgress)
        case progress(SQLMigrationProgress)
        /// To hear that another process has the lock.
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
    /// Checks foreign keys after each migration, where they were on.
    var checking: SQLChecking = unchecked
    /// How many of the pending ones another process ran.
    var appliedByOthers = 0

    init(of steps: SQLSteps, in session: any SQLSession, to target: Int64?, insideTransaction: Bool) {
        (self.steps, self.session) = (steps, session)
        (self.target, self.insideTransaction) = (target, insideTransaction)
        ledger = SQLLedger(session, named: steps.ledger)
    }

    // `unowned`, since this run keeps the session, and the session keeps this closure.
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
                // With a rollback journal a lock can keep readers out, too.
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
            if try steps.hasOtherText(newestOf: status, in: ledger) { try noteChanges() }
            return
        }
        try noteChanges()
        if steps.refusesOutOfOrder {
            for place in places { try refuse(steps.all[place], below: status.currentVersion) }
        }
        try prepare(places)
        do throws(SQLError) { try start() } catch {
            throw error.code == .statementFailed && status.applied.isEmpty ? namingEmptyLedger(error) : error
        }
        report.outOfOrder = report.applied.filter(status.outOfOrder.contains)
    }

    /// Notes the versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    private func noteChanges() throws(SQLError) {
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

    /// Adds to the error of a first migration that the database has tables, and that the ledger knows nothing of them.
    ///
    /// The schema was made without the migrator, or the app has deleted the rows of all tables, as at a log-out. So the first
    /// migration meets the tables that it is to make.
    private func namingEmptyLedger(_ error: SQLError) -> SQLError {
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

    /// Asks the caller's task to answer `reason`: to run a closure, or to hear of a wait.
    func call(_ reason: Call) throws(SQLError) {
        call = reason
        try watchingLedger(session.db.call)
    }

    /// Runs `body`, and has the ledger read again unless it was left alone.
    func watchingLedger(_ body: SQLRules) throws(SQLError) {
        if try !session.leaves(steps.ledger, body) { ledger.known = nil }
    }

    /// Begins nothing in a cancelled task.
    func checkCancellation() throws(SQLError) {
        if session.db.isCancelled { throw SQLError.taskCancelled }
    }

    /// Fails where a migration that reports is not to go on.
    func checkReport(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
        self.answer = answer
        if answer != .continue { throw SQLError(.stopped, "The progress closure answered .\(answer)") }
    }

    /// Fails where the closure for progress gave an answer that ends the run.
    func checkAnswer(_ end: SQLMigrationProgress.Answer) throws(SQLError) {
        let isComplete = report.applied.count >= pending.count - appliedByOthers
        if answer != end || end == .stop && isComplete { return }
        throw failed(SQLError(.stopped, "The progress closure answered .\(answer)"), at: nil)
    }

    /// Adds to an error which migration failed, what stays applied, and what was edited.
    func failed(_ error: SQLError, at next: Pending?, blamesFile: Bool = true) -> SQLError {
        let located = error.version == nil ? next?.step.located(error, blamesFile: blamesFile) : nil
        return (located ?? error).with { ($0.applied, $0.changed) = (report.applied, report.changed) }
    }
}
