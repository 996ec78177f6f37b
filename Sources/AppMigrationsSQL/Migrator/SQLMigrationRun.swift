/// One call of `migrate`: the migrations that were pending when it began, one after the other.
///
/// It is work, and the notes beside it: what the caller is called for, and what it answered.
final class SQLMigrationRun {
    /// A pending migration with the text of its SQL, read and checked before the first one runs.
    struct Pending {
        let place: Int
        let step: SQLStep
        /// `nil` for a closure.
        let script: String?
        let checksum: String?
        /// The statement that runs outside of a transaction.
        let alone: String?
    }

    /// What the caller is called for.
    enum Call {
        /// To run the closure of the migration at a place.
        case closure(_ place: Int)
        case progress(SQLMigrationProgress)
        /// To hear that another process has the lock.
        case waiting
    }

    let session: any SQLSession
    let steps: SQLSteps
    private let target: Int64?
    let insideTransaction: Bool
    private let tellsOfWaiting: Bool

    private(set) var call = Call.waiting
    var answer = SQLMigrationProgress.Answer.continue

    private(set) var report = SQLMigrationReport()
    private(set) var pending = [Pending]()
    var ledger: SQLLedger
    /// Whether foreign keys were on and are checked after each migration.
    private var checksReferences = false
    /// How many of the pending ones another process ran.
    private var appliedByOthers = 0

    init(
        of steps: SQLSteps,
        in session: any SQLSession,
        to target: Int64?,
        insideTransaction: Bool,
        tellsOfWaiting: Bool
    ) {
        self.session = session
        self.steps = steps
        self.target = target
        self.insideTransaction = insideTransaction
        self.tellsOfWaiting = tellsOfWaiting
        ledger = SQLLedger(unreadIn: session, named: steps.ledger)
    }

    var lock: SQLLockWait {
        SQLLockWait(steps.lockTimeout, beforeWaiting: tellsOfWaiting ? { self.calling(.waiting) } : nil)
    }

    /// Compares the ledger with the migrations, and runs what is pending.
    func work() -> SQLWork<SQLMigrationReport> {
        .trying {
            if let target { try steps.checkTarget(target) }
            return session.waiting(steps.lockTimeout) {
                SQLLedger.versions(in: self.session, named: self.steps.ledger).then(self.compare)
            }.map { self.report }
        }
    }

    private func compare(_ versions: [Int64]) throws(SQLError) -> SQLWork<Void> {
        let difference = LedgerDifference(of: versions, with: steps.all)
        report.unknown = difference.unknown
        let places = difference.pending.filter { steps.all[$0].version <= target ?? .max }
        if places.isEmpty {
            return steps.hasOtherText(newestOf: difference, in: session).then {
                $0 ? self.noteChanges() : .nothing
            }
        }
        return noteChanges().then {
            try self.prepare(places)
            return self.start()
        }.map { self.report.outOfOrder = self.report.applied.filter(difference.outOfOrder.contains) }
    }

    private func noteChanges() -> SQLWork<Void> {
        steps.ownChanges(in: session).map { self.report.changed = $0 }
    }

    private func prepare(_ places: [Int]) throws(SQLError) {
        for place in places {
            let step = steps.all[place]
            let script = try step.text()
            var alone: String?
            do throws(SQLError) {
                if let script {
                    try session.check(script)
                    alone = try statement(ofAlone: script, step)
                }
            } catch {
                throw step.located(error)
            }
            let checksum = script.map(SQLChecksum.of)
            pending.append(
                Pending(place: place, step: step, script: script, checksum: checksum, alone: alone)
            )
        }
    }

    private func start() -> SQLWork<Void> {
        let reading = { SQLLedger.reading(self.session, named: self.steps.ledger).map { self.ledger = $0 } }
        if insideTransaction {
            return session.join(lock).then(reading).then { self.runInside(from: 0) }
        }
        return session.withoutForeignKeys { checks in
            self.checksReferences = checks
            return reading().then { self.steps.isOneTransaction ? self.runAll() : self.runEach(from: 0) }
        }
    }

    /// Calls the caller.
    func calling(_ call: Call) -> SQLWork<Void> {
        self.call = call
        return .call
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so meanwhile.
    func perform(_ next: Pending) -> SQLWork<Void> {
        let step = next.step
        answer = .continue
        return SQLWork.trying {
            try checkCancellation()
            return ledger.made()
        }.then { ledger -> SQLWork<Void> in
            self.ledger = ledger
            return ledger.hasApplied(step.version).then { isApplied in
                if isApplied { return self.skip(next, in: ledger) }
                return self.run(next)
                    .then { ledger.record(step.version, name: step.name, checksum: next.checksum) }
                    .then { self.tellOf(step) }
            }
        }.otherwise { throw self.failed($0, at: next) }
    }

    /// Another process has run it, unless that was a migrator of other migrations.
    func skip(_ next: Pending, in ledger: SQLLedger) -> SQLWork<Void> {
        appliedByOthers += 1
        return ledger.checksum(of: next.step.version).then { recorded in
            recorded == next.checksum ? .nothing : self.steps.ownChanges(in: self.session).map { _ in }
        }
    }

    private func run(_ next: Pending) -> SQLWork<Void> {
        let work = { () -> SQLWork<Void> in
            if let script = next.script { return self.session.run(script: script) }
            return self.session.behindSavepoint { self.calling(.closure(next.place)) }
        }
        return checksReferences ? session.checkingReferences(work) : work()
    }

    func tellOf(_ step: SQLStep) -> SQLWork<Void> {
        report.applied.append(step.version)
        return calling(
            .progress(
                SQLMigrationProgress(
                    completed: report.applied.count,
                    total: pending.count - appliedByOthers,
                    version: step.version,
                    name: step.name
                )
            )
        )
    }

    /// Whether a migration is still to be run.
    var isIncomplete: Bool { report.applied.count < pending.count - appliedByOthers }

    /// Takes back what was noted of a transaction that was rolled back.
    func restore(_ applied: [Int64]) { report.applied = applied }

    func checkCancellation() throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError(.cancelled, "The task was cancelled") }
    }

    /// Adds to an error which migration failed and what stays applied.
    func failed(_ error: SQLError, at next: Pending?, blamesFile: Bool = true) -> SQLError {
        var error = error
        if error.version == nil, let next { error = next.step.located(error, blamesFile: blamesFile) }
        error.applied = report.applied
        return error
    }
}
