/// One call of `migrate`: the migrations that were pending when it began, one after the other.
struct MigrationRun<Connection: SQLConnection> {
    typealias Progress = (SQLMigrationProgress) -> SQLMigrationProgress.Answer

    /// A migration with the text of its SQL, read and checked before the first one runs.
    struct Step {
        let migration: SQLMigration<Connection>
        let action: SQLStepGuard<Connection>.Action

        var checksum: String? {
            if case .script(_, let checksum) = action { checksum } else { nil }
        }
    }

    let db: Connection
    var ledger: SQLLedger<Connection>
    let steps: [Step]
    let migrator: SQLMigrator<Connection>
    /// Whether foreign keys were on and are checked after each migration.
    let checksForeignKeys: Bool

    private(set) var applied = [Int64]()
    private var completed = 0

    private var dialect: SQLDialect { Connection.dialect }

    init(
        db: Connection,
        ledger: SQLLedger<Connection>,
        steps: [Step],
        migrator: SQLMigrator<Connection>,
        checksForeignKeys: Bool
    ) {
        self.db = db
        self.ledger = ledger
        self.steps = steps
        self.migrator = migrator
        self.checksForeignKeys = checksForeignKeys
    }

    static func steps(for pending: [SQLMigration<Connection>]) throws(SQLError) -> [Step] {
        var steps = [Step]()
        for migration in pending {
            steps.append(Step(migration: migration, action: try action(of: migration)))
        }
        return steps
    }

    private static func action(of migration: SQLMigration<Connection>) throws(SQLError)
        -> SQLStepGuard<Connection>.Action
    {
        switch migration.body {
        case .code(let run): return .code(run)
        case .script(let source):
            let text = try migration.text(of: source)
            do throws(SQLError) {
                try SQLScript(text).check(for: Connection.dialect)
            } catch {
                throw migration.located(error)
            }
            return .script(text, checksum: SQLChecksum.of(text))
        }
    }

    /// Runs every step in a transaction of its own.
    mutating func runEach(_ progress: Progress) throws(SQLError) {
        for (index, step) in steps.enumerated() {
            var answer = SQLMigrationProgress.Answer.continue
            try transaction(at: step, isLast: index == steps.count - 1) { run throws(SQLError) in
                answer = try run.perform(step, progress)
                if answer == .rollBack { throw run.stopped(by: answer) }
            }
            try stopIfNeeded(answer)
        }
    }

    /// Runs every step in one transaction.
    mutating func runAll(_ progress: Progress) throws(SQLError) {
        var answer = SQLMigrationProgress.Answer.continue
        try transaction(at: nil, isLast: true) { run throws(SQLError) in
            for step in run.steps where answer == .continue { answer = try run.perform(step, progress) }
            if answer == .rollBack { throw run.stopped(by: answer) }
        }
        try stopIfNeeded(answer)
    }

    /// Runs every step in a savepoint of its own, inside the transaction of the caller.
    mutating func runInside(_ progress: Progress) throws(SQLError) {
        try dialect.takeLockInside(db, wait: migrator.lockTimeout)
        for step in steps {
            let before = applied
            var answer = SQLMigrationProgress.Answer.continue
            do throws(SQLError) {
                try SQLError.wrapping { try db.query("SAVEPOINT app_migrations_step") }
                answer = try perform(step, progress)
                if answer == .rollBack { throw stopped(by: answer) }
                try SQLError.wrapping { try db.query("RELEASE SAVEPOINT app_migrations_step") }
            } catch {
                applied = before
                var error = error
                do throws(SQLError) {
                    try SQLError.wrapping {
                        try db.query("ROLLBACK TO SAVEPOINT app_migrations_step")
                        try db.query("RELEASE SAVEPOINT app_migrations_step")
                    }
                } catch let failure {
                    error = error.adding(failure, of: "the rollback")
                }
                throw failed(error, at: step)
            }
            try stopIfNeeded(answer)
        }
    }

    /// Runs `body` in a transaction.
    ///
    /// The last one is made durable, and those before it with it: what records that `migrate` returned, as a
    /// runner does, must not survive a power failure that the migrations don't.
    private mutating func transaction(
        at step: Step?,
        isLast: Bool,
        _ body: (inout MigrationRun) throws(SQLError) -> Void
    ) throws(SQLError) {
        guard isLast else { return try transaction(at: step, body) }
        do throws(SQLError) {
            try SQLDurability.raised(on: db) { () throws(SQLError) in try transaction(at: step, body) }
        } catch {
            throw failed(error, at: step)
        }
    }

    private mutating func transaction(
        at step: Step?,
        _ body: (inout MigrationRun) throws(SQLError) -> Void
    ) throws(SQLError) {
        let before = applied
        do throws(SQLError) {
            try checkCancellation()
            try dialect.begin(db, wait: migrator.lockTimeout)
        } catch {
            throw failed(error, at: step, blamesFile: false)
        }
        do throws(SQLError) {
            try body(&self)
            try SQLError.wrapping { try db.query("COMMIT") }
        } catch {
            applied = before
            throw failed(dialect.rollingBack(db, after: error), at: step)
        }
    }

    /// Runs one step and writes it to the ledger, unless another starter has done so meanwhile.
    private mutating func perform(_ step: Step, _ progress: Progress) throws(SQLError)
        -> SQLMigrationProgress.Answer
    {
        do throws(SQLError) {
            try checkCancellation()
            try ledger.createIfNeeded()
            completed += 1
            if try ledger.hasApplied(step.migration.version) {
                // Another process has, unless it was a migrator of other migrations.
                let recorded = try ledger.checksum(of: step.migration.version)
                if recorded != step.checksum { _ = try migrator.ownChanges(in: db) }
                return .continue
            }
            try runGuarded(step)
            try ledger.record(
                step.migration.version,
                name: step.migration.name,
                checksum: step.checksum
            )
            applied.append(step.migration.version)
        } catch {
            throw failed(error, at: step)
        }
        return progress(
            SQLMigrationProgress(
                completed: completed,
                total: steps.count,
                version: step.migration.version,
                name: step.migration.name
            )
        )
    }
}

extension MigrationRun {
    private func runGuarded(_ step: Step) throws(SQLError) {
        try SQLStepGuard(db: db, checksForeignKeys: checksForeignKeys).run(step.action)
    }

    private func checkCancellation() throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError(.cancelled, "The task was cancelled") }
    }

    private func stopIfNeeded(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if answer == .stop, completed < steps.count { throw stopped(by: answer) }
    }

    private func stopped(by answer: SQLMigrationProgress.Answer) -> SQLError {
        var error = SQLError(.stopped, "The progress closure answered .\(answer)")
        error.applied = applied
        return error
    }

    /// Adds to an error which migration failed and what stays applied.
    private func failed(_ error: SQLError, at step: Step?, blamesFile: Bool = true) -> SQLError {
        var error = error
        if error.version == nil, let step { error = step.migration.located(error, blamesFile: blamesFile) }
        error.applied = applied
        return error
    }
}
