/// What one transaction holds.
extension SQLMigrationRun {
    /// Runs every migration in a transaction of its own.
    func runEach(from index: Int) -> SQLWork<Void> {
        guard index < pending.count else { return .nothing }
        let next = pending[index]
        let isLast = index == pending.count - 1
        let work =
            next.alone.map { runAlone(next, $0) }
            ?? transaction(at: next, isLast: isLast) {
                self.perform(next).map { try self.checkAnswer(.rollBack) }
            }
        return work.then {
            try self.checkAnswer(.stop)
            return self.runEach(from: index + 1)
        }
    }

    /// Runs every migration in one transaction.
    func runAll() -> SQLWork<Void> {
        transaction(at: nil, isLast: true) {
            self.runRest(from: 0).map { try self.checkAnswer(.rollBack) }
        }.map { try self.checkAnswer(.stop) }
    }

    private func runRest(from index: Int) -> SQLWork<Void> {
        guard index < pending.count, answer == .continue else { return .nothing }
        return perform(pending[index]).then { self.runRest(from: index + 1) }
    }

    /// Runs every migration in a savepoint of its own, inside the transaction of the caller.
    func runInside(from index: Int) -> SQLWork<Void> {
        guard index < pending.count else { return .nothing }
        let next = pending[index]
        let before = report.applied
        return SQLWork.statement("SAVEPOINT app_migrations_step").then {
            self.perform(next)
        }.then {
            try self.checkAnswer(.rollBack)
            return .statement("RELEASE SAVEPOINT app_migrations_step")
        }.otherwise { error in
            self.restore(before)
            return SQLWork.failed(error).undoing("the rollback") {
                SQLWork.statement("ROLLBACK TO SAVEPOINT app_migrations_step")
                    .then { .statement("RELEASE SAVEPOINT app_migrations_step") }
            }.otherwise { throw self.failed($0, at: next) }
        }.then {
            try self.checkAnswer(.stop)
            return self.runInside(from: index + 1)
        }
    }

    /// Runs `body` in a transaction.
    ///
    /// The last one is made durable, and those before it with it: what records that `migrate` returned, as a
    /// runner does, must not survive a power failure that the migrations don't.
    private func transaction(
        at next: Pending?,
        isLast: Bool,
        _ body: @escaping () -> SQLWork<Void>
    ) -> SQLWork<Void> {
        let before = report.applied
        return session.lasting(durably: isLast) {
            var hasBegun = false
            return SQLWork.trying {
                try self.checkCancellation()
                return self.session.transaction(self.lock, durably: isLast) {
                    hasBegun = true
                    return body()
                }
            }.otherwise { error in
                self.restore(before)
                throw self.failed(error, at: next, blamesFile: hasBegun)
            }
        }.otherwise { throw self.failed($0, at: next) }
    }

    /// Fails where the closure for progress gave an answer that ends the run.
    func checkAnswer(_ end: SQLMigrationProgress.Answer) throws(SQLError) {
        guard answer == end, end == .rollBack || isIncomplete else { return }
        var error = SQLError(.stopped, "The progress closure answered .\(answer)")
        error.applied = report.applied
        throw error
    }
}
