/// The migrations of one transaction.
extension SQLMigrationRun {
    /// Runs every migration in a transaction of its own.
    func runEach() throws(SQLError) {
        for (index, next) in pending.enumerated() {
            if let statements = next.alone {
                try runAlone(next, statements)
            } else {
                try transaction(at: next, isLast: index == pending.count - 1) { () throws(SQLError) in
                    try perform(next)
                    try checkAnswer(.rollBack)
                }
            }
            try checkAnswer(.stop)
        }
    }

    /// Runs every migration in one transaction.
    func runAll() throws(SQLError) {
        try transaction(at: nil, isLast: true) { () throws(SQLError) in
            for next in pending where answer == .continue { try perform(next) }
            try checkAnswer(.rollBack)
        }
        try checkAnswer(.stop)
    }

    /// Runs every migration in a savepoint of its own, inside the transaction of the caller.
    func runInside() throws(SQLError) {
        for next in pending {
            let before = counts
            try session.db.query("SAVEPOINT app_migrations_step")
            do throws(SQLError) {
                try perform(next)
                try checkAnswer(.rollBack)
                try session.db.query("RELEASE SAVEPOINT app_migrations_step")
            } catch {
                restore(before)
                let undone = session.db.undoing("the rollback", after: error) { () throws(SQLError) in
                    try session.db.query("ROLLBACK TO SAVEPOINT app_migrations_step")
                    try session.db.query("RELEASE SAVEPOINT app_migrations_step")
                }
                throw failed(undone, at: next)
            }
            try checkAnswer(.stop)
        }
    }

    /// Runs `body` in a transaction.
    ///
    /// The last one is made durable, and those before it with it: what records that `migrate` returned, as a
    /// runner does, must not survive a power failure that the migrations don't.
    private func transaction(at next: Pending?, isLast: Bool, _ body: SQLRules) throws(SQLError) {
        let before = counts
        var hasBegun = false
        do throws(SQLError) {
            try session.lasting(durably: isLast) { () throws(SQLError) in
                do throws(SQLError) {
                    try checkCancellation()
                    try session.transaction(lock, durably: isLast) { () throws(SQLError) in
                        hasBegun = true
                        try body()
                    }
                } catch {
                    restore(before)
                    throw failed(error, at: next, blamesFile: hasBegun)
                }
            }
        } catch { throw failed(error, at: next) }
    }

    /// Fails where a migration that reports is not to go on.
    func checkReport(_ answer: SQLMigrationProgress.Answer) throws(SQLError) {
        if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
        self.answer = answer
        if answer != .continue { throw SQLError(.stopped, "The progress closure answered .\(answer)") }
    }

    /// Fails where the closure for progress gave an answer that ends the run.
    func checkAnswer(_ end: SQLMigrationProgress.Answer) throws(SQLError) {
        guard answer == end, end == .rollBack || isIncomplete else { return }
        throw SQLError(.stopped, "The progress closure answered .\(answer)").with {
            $0.applied = report.applied
        }
    }
}
