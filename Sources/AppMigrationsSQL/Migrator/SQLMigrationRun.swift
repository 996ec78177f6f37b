/// One call of `migrate`: the migrations that were pending when it began, one after the other.
struct SQLMigrationRun {
    typealias Progress = (SQLMigrationProgress) -> SQLMigrationProgress.Answer

    /// A pending migration with the text of its SQL, read and checked before the first one runs.
    private struct Pending {
        let place: Int
        let step: SQLStep
        /// `nil` for a closure.
        let script: String?
        let checksum: String?
    }

    private let session: any SQLSession
    private let steps: SQLSteps
    private let pending: [Pending]
    private var ledger: SQLLedger
    /// Whether foreign keys were on and are checked after each migration.
    private var checksReferences = false

    private(set) var applied = [Int64]()
    private var completed = 0

    init(of places: [Int], in steps: SQLSteps, _ session: any SQLSession) throws(SQLError) {
        self.session = session
        self.steps = steps
        ledger = SQLLedger(unreadIn: session, named: steps.ledger)
        var pending = [Pending]()
        for place in places {
            let step = steps.all[place]
            let script = try step.text()
            do throws(SQLError) {
                if let script { try session.check(SQLScript(script)) }
            } catch {
                throw step.located(error)
            }
            let checksum = script.map(SQLChecksum.of)
            pending.append(Pending(place: place, step: step, script: script, checksum: checksum))
        }
        self.pending = pending
    }

    /// Runs what is pending; `run` runs the closure of the migration at a place.
    mutating func start(
        _ insideTransaction: Bool,
        _ progress: Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) {
        if insideTransaction {
            try session.join(wait: steps.lockTimeout)
            try ledger.readColumns()
            return try runInside(progress, run)
        }
        try session.withoutForeignKeys { checks throws(SQLError) in
            checksReferences = checks
            try ledger.readColumns()
            if steps.isOneTransaction { try runAll(progress, run) } else { try runEach(progress, run) }
        }
    }

    /// Runs every migration in a transaction of its own.
    private mutating func runEach(
        _ progress: Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) {
        for (index, next) in pending.enumerated() {
            var answer = SQLMigrationProgress.Answer.continue
            try transaction(at: next, isLast: index == pending.count - 1) { pass throws(SQLError) in
                answer = try pass.perform(next, progress, run)
                if answer == .rollBack { throw pass.stopped(by: answer) }
            }
            try stopIfNeeded(answer)
        }
    }

    /// Runs every migration in one transaction.
    private mutating func runAll(
        _ progress: Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) {
        var answer = SQLMigrationProgress.Answer.continue
        try transaction(at: nil, isLast: true) { pass throws(SQLError) in
            for next in pass.pending where answer == .continue {
                answer = try pass.perform(next, progress, run)
            }
            if answer == .rollBack { throw pass.stopped(by: answer) }
        }
        try stopIfNeeded(answer)
    }

    /// Runs every migration in a savepoint of its own, inside the transaction of the caller.
    private mutating func runInside(
        _ progress: Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) {
        for next in pending {
            let before = applied
            var answer = SQLMigrationProgress.Answer.continue
            do throws(SQLError) {
                try session.db.rows("SAVEPOINT app_migrations_step")
                answer = try perform(next, progress, run)
                if answer == .rollBack { throw stopped(by: answer) }
                try session.db.rows("RELEASE SAVEPOINT app_migrations_step")
            } catch {
                applied = before
                var error = error
                do throws(SQLError) {
                    try session.db.rows("ROLLBACK TO SAVEPOINT app_migrations_step")
                    try session.db.rows("RELEASE SAVEPOINT app_migrations_step")
                } catch let failure {
                    error = error.adding(failure, of: "the rollback")
                }
                throw failed(error, at: next)
            }
            try stopIfNeeded(answer)
        }
    }

    /// Runs `body` in a transaction.
    ///
    /// The last one is made durable, and those before it with it: what records that `migrate` returned, as a
    /// runner does, must not survive a power failure that the migrations don't.
    private mutating func transaction(
        at next: Pending?,
        isLast: Bool,
        _ body: (inout SQLMigrationRun) throws(SQLError) -> Void
    ) throws(SQLError) {
        do throws(SQLError) {
            if isLast {
                try session.durably { () throws(SQLError) in try transaction(at: next, body) }
            } else {
                try session.beforeDurable { () throws(SQLError) in try transaction(at: next, body) }
            }
        } catch {
            throw failed(error, at: next)
        }
    }

    private mutating func transaction(
        at next: Pending?,
        _ body: (inout SQLMigrationRun) throws(SQLError) -> Void
    ) throws(SQLError) {
        let before = applied
        var hasBegun = false
        do throws(SQLError) {
            try checkCancellation()
            try session.transaction(wait: steps.lockTimeout) { () throws(SQLError) in
                hasBegun = true
                try body(&self)
            }
        } catch {
            applied = before
            throw failed(error, at: next, blamesFile: hasBegun)
        }
    }

    /// Runs one migration and writes it to the ledger, unless another process has done so meanwhile.
    private mutating func perform(
        _ next: Pending,
        _ progress: Progress,
        _ run: (_ place: Int) throws -> Void
    ) throws(SQLError) -> SQLMigrationProgress.Answer {
        let step = next.step
        do throws(SQLError) {
            try checkCancellation()
            try ledger.createIfNeeded()
            completed += 1
            if try ledger.hasApplied(step.version) {
                // Another process has, unless it was a migrator of other migrations.
                let recorded = try ledger.checksum(of: step.version)
                if recorded != next.checksum { _ = try steps.ownChanges(in: session) }
                return .continue
            }
            try work(next, run)
            try ledger.record(step.version, name: step.name, checksum: next.checksum)
            applied.append(step.version)
        } catch {
            throw failed(error, at: next)
        }
        return progress(
            SQLMigrationProgress(
                completed: completed,
                total: pending.count,
                version: step.version,
                name: step.name
            )
        )
    }

    private func work(_ next: Pending, _ run: (_ place: Int) throws -> Void) throws(SQLError) {
        func work() throws(SQLError) {
            if let script = next.script { return try session.run(script: script) }
            try session.behindSavepoint { try run(next.place) }
        }
        if checksReferences { try session.checkingReferences(work) } else { try work() }
    }

    private func checkCancellation() throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError(.cancelled, "The task was cancelled") }
    }

    private func stopIfNeeded(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if answer == .stop, completed < pending.count { throw stopped(by: answer) }
    }

    private func stopped(by answer: SQLMigrationProgress.Answer) -> SQLError {
        var error = SQLError(.stopped, "The progress closure answered .\(answer)")
        error.applied = applied
        return error
    }

    /// Adds to an error which migration failed and what stays applied.
    private func failed(_ error: SQLError, at next: Pending?, blamesFile: Bool = true) -> SQLError {
        var error = error
        if error.version == nil, let next { error = next.step.located(error, blamesFile: blamesFile) }
        error.applied = applied
        return error
    }
}
