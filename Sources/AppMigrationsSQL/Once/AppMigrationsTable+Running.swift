internal import AppMigrations

extension AppMigrationsTable {
    /// Runs `body` in a transaction that also writes its row, unless the row is there already.
    ///
    /// - Returns: Whether it ran.
    /// - Throws: What `body` threw, as it was; ``SQLError`` for everything else; `CancellationError` where
    ///   the task was cancelled.
    func runOnce(_ version: AppVersion, lockTimeout: Duration, _ body: () throws -> Void) throws -> Bool {
        var failure: (cause: any Error, message: String)?
        var ran = false
        do throws(SQLError) {
            try alone(lockTimeout: lockTimeout) { checks throws(SQLError) in
                try createIfNeeded()
                if try has(version) { return }
                func work() throws(SQLError) {
                    try session.behindSavepoint {
                        do {
                            try body()
                        } catch {
                            failure = (error, SQLError.wrapped(error, as: .migrationFailed).message)
                            throw error
                        }
                    }
                }
                if checks { try session.checkingReferences(work) } else { try work() }
                try add(version)
                ran = true
            }
        } catch {
            if let failure, failure.message == error.message { throw failure.cause }
            if error.code == .cancelled, Task<Never, Never>.isCancelled { throw CancellationError() }
            throw error
        }
        return ran
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) throws(SQLError) {
        var isThere = false
        try session.waiting(lockTimeout) { () throws(SQLError) in isThere = try exist() }
        guard isThere else { return }
        try alone(lockTimeout: lockTimeout) { (_) throws(SQLError) in try remove(after: version) }
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    private func alone(
        lockTimeout: Duration,
        _ body: (_ checksReferences: Bool) throws(SQLError) -> Void
    ) throws(SQLError) {
        try session.waiting(lockTimeout) { () throws(SQLError) in
            try session.withoutForeignKeys { checks throws(SQLError) in
                try session.durably { () throws(SQLError) in
                    try session.transaction(wait: lockTimeout) { () throws(SQLError) in try body(checks) }
                }
            }
        }
    }
}
