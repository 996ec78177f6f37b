/// What one transaction holds.
extension SQLMigrationRun {
    /// Runs every migration in a transaction of its own.
    func runEach() -> SQLWork {
        .each(0..<pending.count) { index in
            let next = self.pending[index]
            let isLast = index == self.pending.count - 1
            let work =
                next.alone.map { self.runAlone(next, $0) }
                ?? self.transaction(at: next, isLast: isLast) {
                    self.perform(next).noting { () throws(SQLError) in try self.checkAnswer(.rollBack) }
                }
            return work.noting { () throws(SQLError) in try self.checkAnswer(.stop) }
        }
    }

    /// Runs every migration in one transaction.
    func runAll() -> SQLWork {
        transaction(at: nil, isLast: true) {
            SQLWork.each(0..<self.pending.count) { index in
                self.answer == .continue ? self.perform(self.pending[index]) : .nothing
            }.noting { () throws(SQLError) in try self.checkAnswer(.rollBack) }
        }.noting { () throws(SQLError) in try self.checkAnswer(.stop) }
    }

    /// Runs every migration in a savepoint of its own, inside the transaction of the caller.
    func runInside() -> SQLWork {
        .each(0..<pending.count) { index in
            let next = self.pending[index]
            let before = self.counts
            return SQLWork.statement("SAVEPOINT app_migrations_step").then {
                self.perform(next)
            }.then { () throws(SQLError) in
                try self.checkAnswer(.rollBack)
                return .statement("RELEASE SAVEPOINT app_migrations_step")
            }.otherwise { error in
                self.restore(before)
                return SQLWork.failed(error).undoing("the rollback") {
                    SQLWork.statement("ROLLBACK TO SAVEPOINT app_migrations_step")
                        .then { .statement("RELEASE SAVEPOINT app_migrations_step") }
                }.failing { self.failed($0, at: next) }
            }.noting { () throws(SQLError) in try self.checkAnswer(.stop) }
        }
    }

    /// Runs `body` in a transaction.
    ///
    /// The last one is made durable, and those before it with it: what records that `migrate` returned, as a
    /// runner does, must not survive a power failure that the migrations don't.
    private func transaction(
        at next: Pending?,
        isLast: Bool,
        _ body: @escaping () -> SQLWork
    ) -> SQLWork {
        let before = counts
        return session.lasting(durably: isLast) {
            var hasBegun = false
            return self.checkingCancellation {
                self.session.transaction(self.lock, durably: isLast) {
                    hasBegun = true
                    return body()
                }
            }.failing { error in
                self.restore(before)
                return self.failed(error, at: next, blamesFile: hasBegun)
            }
        }.failing { self.failed($0, at: next) }
    }

    /// Fails where the closure for progress gave an answer that ends the run.
    func checkAnswer(_ end: SQLMigrationProgress.Answer) throws(SQLError) {
        guard answer == end, end == .rollBack || isIncomplete else { return }
        var error = SQLError(.stopped, "The progress closure answered .\(answer)")
        error.applied = report.applied
        throw error
    }
}
