/// One call of `migrate`: the migrations that were pending when it began, one after the other.
///
/// It is work, and the notes beside it: what the caller is called for, and what it answered.
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
    private var longWait = SQLLongWait()
    var answer = SQLMigrationProgress.Answer.continue

    private(set) var report = SQLMigrationReport()
    private(set) var pending = [Pending]()
    let ledger: SQLLedger
    /// Checks foreign keys after each migration, where they were on.
    private var checking: SQLWork.Around = { $0() }
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
        ledger = SQLLedger(session, named: steps.ledger)
    }

    var lock: SQLLockWait {
        SQLLockWait(steps.lockTimeout, beforeWaiting: tellsOfWaiting ? { self.calling(.waiting) } : nil)
    }

    /// The same where the lock is asked for again and again.
    var lockOfLongWait: SQLLockWait {
        SQLLockWait(steps.lockTimeout, beforeWaiting: tellsOfWaiting ? tellOfLongWait : nil)
    }

    func tellOfLongWait() -> SQLWork {
        tellsOfWaiting && longWait.isToBeTold(at: .now) ? calling(.waiting) : .nothing
    }

    /// Compares the ledger with the migrations, and runs what is pending.
    func work() throws(SQLError) -> SQLWork {
        if let target { try steps.checkTarget(target) }
        return session.waiting(steps.lockTimeout) {
            self.readFirst().then { () throws(SQLError) in try self.compare() }
        }
    }

    /// Reads the ledger, and tells of a wait for that: with a rollback journal a lock can keep readers out, too.
    private func readFirst() -> SQLWork {
        guard tellsOfWaiting, session.goesOnAfterErrors else { return ledger.readFirst() }
        return session.waiting(.zero) { self.ledger.readFirst() }.otherwise { error in
            if error.code != .busy { return .failed(error) }
            return self.calling(.waiting).then { self.ledger.readFirst() }
        }
    }

    private func compare() throws(SQLError) -> SQLWork {
        let difference = LedgerDifference(of: ledger.versions, with: steps.all)
        report.unknown = difference.unknown
        let places = difference.pending.filter { steps.all[$0].version <= target ?? .max }
        if places.isEmpty {
            return steps.hasOtherText(newestOf: difference, in: ledger).whether {
                $0 ? self.noteChanges() : .nothing
            }
        }
        return noteChanges().then { () throws(SQLError) in
            try self.prepare(places)
            return self.start()
        }.noting { self.report.outOfOrder = self.report.applied.filter(difference.outOfOrder.contains) }
    }

    /// Notes the versions whose SQL is another one than when it was applied, in a ledger that is this migrator's.
    private func noteChanges() -> SQLWork {
        let comparison = steps.comparison(in: session)
        return comparison.read().then { () throws(SQLError) in try comparison.refuseOtherOwner() }
            .noting { self.report.changed = comparison.changed }
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

    private func start() -> SQLWork {
        if insideTransaction {
            return session.join(lock).then { self.ledger.read() }.then { self.runInside() }
        }
        return session.withoutForeignKeys { checking in
            self.checking = checking
            return self.ledger.read().then { self.steps.isOneTransaction ? self.runAll() : self.runEach() }
        }
    }

    /// Calls the caller.
    func calling(_ call: Call) -> SQLWork {
        self.call = call
        return .call
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so meanwhile.
    func perform(_ next: Pending) -> SQLWork {
        answer = .continue
        return checkingCancellation {
            self.unlessApplied(next) { self.run(next).then { self.record(next) } }
        }
        .failing { self.failed($0, at: next) }
    }

    /// Runs `work`, unless another process has run the migration meanwhile; the lock is held.
    func unlessApplied(_ next: Pending, _ work: @escaping () -> SQLWork) -> SQLWork {
        ledger.make().then { self.ledger.hasApplied(next.step.version) }
            .whether { $0 ? self.skip(next) : work() }
    }

    /// Another process has run it, unless that was a migrator of other migrations.
    private func skip(_ next: Pending) -> SQLWork {
        appliedByOthers += 1
        return ledger.readChecksum(of: next.step.version).then { () throws(SQLError) in
            if self.ledger.checksums[next.step.version] == next.checksum { return .nothing }
            let comparison = self.steps.comparison(in: self.session)
            return comparison.read().then { () throws(SQLError) in try comparison.refuseOtherOwner() }
        }
    }

    /// Writes a migration to the ledger, and tells of it.
    func record(_ next: Pending) -> SQLWork {
        let step = next.step
        return ledger.record(step.version, name: step.name, checksum: next.checksum)
            .then { self.tellOf(step) }
    }

    private func run(_ next: Pending) -> SQLWork {
        checking {
            if let script = next.script { return self.session.run(script: script) }
            return self.session.behindSavepoint { self.calling(.closure(next.place)) }
        }
    }

    private func tellOf(_ step: SQLStep) -> SQLWork {
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

    /// What is noted of a transaction while it is not yet committed.
    var counts: (applied: [Int64], byOthers: Int) { (report.applied, appliedByOthers) }

    /// Takes back what was noted of a transaction that was rolled back.
    func restore(_ counts: (applied: [Int64], byOthers: Int)) {
        (report.applied, appliedByOthers) = counts
    }

    /// Work that doesn't begin in a cancelled task.
    func checkingCancellation(_ work: () -> SQLWork) -> SQLWork {
        Task<Never, Never>.isCancelled ? .failed(SQLError.taskCancelled) : work()
    }

    /// Adds to an error which migration failed and what stays applied.
    func failed(_ error: SQLError, at next: Pending?, blamesFile: Bool = true) -> SQLError {
        var error = error
        if error.version == nil, let next { error = next.step.located(error, blamesFile: blamesFile) }
        error.applied = report.applied
        return error
    }
}
