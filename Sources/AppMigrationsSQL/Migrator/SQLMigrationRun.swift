/// One call of `migrate`: the migrations that were pending when it began, one after the other.
///
/// Beside it are notes: what the caller is called for, and what it answered.
final class SQLMigrationRun {
    /// A pending migration with the text of its SQL, read and checked before the first one runs.
    final class Pending {
        let place: Int
        let step: SQLStep
        /// `nil` for a closure.
        let script: String?
        let checksum: String?
        /// The statements that run outside of a transaction.
        let alone: [String]?

        init(_ place: Int, _ step: SQLStep, script: String?, alone: [String]?) {
            self.place = place
            self.step = step
            self.script = script
            self.alone = alone
            checksum = script.map(SQLChecksum.of)
        }
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
    private var longWait = SQLLongWait()
    var answer = SQLMigrationProgress.Answer.continue

    private(set) var report = SQLMigrationReport()
    private(set) var pending = [Pending]()
    let ledger: SQLLedger
    /// Checks foreign keys after each migration, where they were on.
    private var checking: SQLChecking = { body throws(SQLError) in try body() }
    /// How many of the pending ones another process ran.
    private var appliedByOthers = 0

    init(
        of steps: SQLSteps,
        in session: any SQLSession,
        to target: Int64?,
        insideTransaction: Bool
    ) {
        self.session = session
        self.steps = steps
        self.target = target
        self.insideTransaction = insideTransaction
        ledger = SQLLedger(session, named: steps.ledger)
    }

    // A session keeps the lock, and this keeps the session.
    var lock: SQLLockWait {
        SQLLockWait(steps.lockTimeout) { [unowned self] () throws(SQLError) in try self.call(.waiting) }
    }

    /// Waiting where the lock is asked for again and again.
    var lockOfLongWait: SQLLockWait {
        SQLLockWait(steps.lockTimeout) { [unowned self] () throws(SQLError) in try self.tellOfLongWait() }
    }

    func tellOfLongWait() throws(SQLError) {
        if longWait.isToBeTold(at: .now) { try call(.waiting) }
    }

    /// Compares the ledger with the migrations, and runs what is pending.
    func run() throws(SQLError) {
        if let target { try steps.checkTarget(target) }
        try session.waiting(steps.lockTimeout) { () throws(SQLError) in
            try readFirst()
            try compare()
        }
    }

    /// Reads the ledger, and tells of a wait for that: with a rollback journal a lock can keep readers out, too.
    private func readFirst() throws(SQLError) {
        guard session.goesOnAfterErrors else { return try ledger.readFirst() }
        do throws(SQLError) {
            try session.waiting(.zero) { () throws(SQLError) in try ledger.readFirst() }
        } catch {
            if error.code != .busy { throw error }
            try call(.waiting)
            try ledger.readFirst()
        }
    }

    private func compare() throws(SQLError) {
        let difference = LedgerDifference(of: ledger.versions, with: steps.all)
        report.unknown = difference.unknown
        let places = difference.pending.filter { steps.all[$0].version <= target ?? .max }
        if places.isEmpty {
            if try steps.hasOtherText(newestOf: difference, in: ledger) { try noteChanges() }
            return
        }
        try noteChanges()
        try prepare(places)
        try start()
        report.outOfOrder = report.applied.filter(difference.outOfOrder.contains)
    }

    /// Notes the versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    private func noteChanges() throws(SQLError) {
        try ledger.refuseOtherOwner(than: steps.all)
        report.changed = ledger.changed
        guard steps.refusesChanged, let version = report.changed.first,
            let step = steps.all.first(where: { $0.version == version })
        else { return }
        throw step.located(SQLError(.changedMigration, "Its SQL is another one than when it was applied"))
    }

    private func prepare(_ places: [Int]) throws(SQLError) {
        for place in places {
            let step = steps.all[place]
            let script = try step.text()
            var alone: [String]?
            do throws(SQLError) {
                if let script {
                    try session.check(script)
                    alone = try statements(ofAlone: script, step)
                }
            } catch {
                throw step.located(error)
            }
            pending.append(Pending(place, step, script: script, alone: alone))
        }
    }

    private func start() throws(SQLError) {
        if insideTransaction {
            try session.join(lock)
            try ledger.read()
            return try runInside()
        }
        try session.withoutForeignKeys { checking throws(SQLError) in
            self.checking = checking
            try ledger.read()
            try steps.isOneTransaction ? runAll() : runEach()
        }
    }

    /// Calls the caller.
    private func call(_ reason: Call) throws(SQLError) {
        call = reason
        try session.db.call()
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so meanwhile.
    func perform(_ next: Pending) throws(SQLError) {
        answer = .continue
        do throws(SQLError) {
            try checkCancellation()
            if try isApplied(next) { return }
            try checking { () throws(SQLError) in
                if let script = next.script { return try session.run(script: script) }
                try session.behindSavepoint { () throws(SQLError) in
                    try call(.closure(next.place, progress(of: next, 0)))
                }
            }
            try record(next)
        } catch { throw failed(error, at: next) }
    }

    /// True if another process has run the migration meanwhile, unless that was a migrator of other migrations; the lock is held.
    func isApplied(_ next: Pending) throws(SQLError) -> Bool {
        try ledger.make()
        guard try ledger.hasApplied(next.step.version) else { return false }
        appliedByOthers += 1
        if try ledger.checksum(of: next.step.version) != next.checksum {
            try ledger.refuseOtherOwner(than: steps.all)
        }
        return true
    }

    /// Writes a migration to the ledger, and tells of it.
    func record(_ next: Pending) throws(SQLError) {
        let step = next.step
        try ledger.record(step.version, name: step.name, checksum: next.checksum)
        report.applied.append(step.version)
        try call(.progress(progress(of: next, 1)))
    }

    private func progress(of next: Pending, _ fraction: Double) -> SQLMigrationProgress {
        SQLMigrationProgress(
            completed: report.applied.count,
            total: pending.count - appliedByOthers,
            version: next.step.version,
            name: next.step.name,
            fraction: fraction
        )
    }

    /// True if a migration is still to be run.
    var isIncomplete: Bool { report.applied.count < pending.count - appliedByOthers }

    /// Notes of a transaction that is not yet committed.
    var counts: (applied: [Int64], byOthers: Int) { (report.applied, appliedByOthers) }

    /// Takes back what was noted of a transaction that was rolled back.
    func restore(_ counts: (applied: [Int64], byOthers: Int)) { (report.applied, appliedByOthers) = counts }

    /// Begins nothing in a cancelled task.
    func checkCancellation() throws(SQLError) {
        if session.db.isCancelled { throw SQLError.taskCancelled }
    }

    /// Adds to an error which migration failed and what stays applied.
    func failed(_ error: SQLError, at next: Pending?, blamesFile: Bool = true) -> SQLError {
        let located = error.version == nil ? next?.step.located(error, blamesFile: blamesFile) : nil
        return (located ?? error).with { $0.applied = report.applied }
    }
}
