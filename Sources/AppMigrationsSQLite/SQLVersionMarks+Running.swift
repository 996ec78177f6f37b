internal import AppMigrations

extension SQLVersionMarks {
    /// Runs `body` in a transaction that also writes its row, unless the row is there already.
    ///
    /// - Returns: Whether it ran.
    /// - Throws: What `body` threw, as it was; ``SQLError`` for everything else; `CancellationError` where
    ///   the task was cancelled.
    func runOnce(_ version: AppVersion, lockTimeout: Duration, _ body: () throws -> Void) throws -> Bool {
        var failure: (cause: any Error, message: String)?
        do throws(SQLError) {
            return try alone(lockTimeout: lockTimeout) { (checks) throws(SQLError) in
                try createIfNeeded()
                if try has(version) { return false }
                let work = { (_: Connection) throws in
                    do {
                        try body()
                    } catch {
                        failure = (error, SQLError.wrapped(error, as: .migrationFailed).message)
                        throw error
                    }
                }
                try withoutActuallyEscaping(work) { work throws(SQLError) in
                    try SQLStepGuard(db: db, checksForeignKeys: checks).run(.code(work))
                }
                try add(version)
                return true
            }
        } catch {
            if let failure, failure.message == error.message { throw failure.cause }
            if error.code == .cancelled, Task<Never, Never>.isCancelled { throw CancellationError() }
            throw error
        }
    }

    /// Removes the rows of this manager above a version, where there are any.
    func removeAlone(after version: AppVersion, lockTimeout: Duration) throws(SQLError) {
        guard try Connection.dialect.waiting(lockTimeout, on: db, exist) else { return }
        try alone(lockTimeout: lockTimeout) { (_) throws(SQLError) in try remove(after: version) }
    }

    /// Runs `body` in a durable transaction with the write lock, and foreign keys off.
    ///
    /// One of the caller's is refused: when it is rolled back, a record outside of the database would stay.
    private func alone<Value>(
        lockTimeout: Duration,
        _ body: (_ checksForeignKeys: Bool) throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        let dialect = Connection.dialect
        guard dialect.isSQLite else { return try transaction(lockTimeout, checksForeignKeys: false, body) }
        return try dialect.waiting(lockTimeout, on: db) { () throws(SQLError) in
            try SQLForeignKeys.turnedOff(on: db) { (checks) throws(SQLError) in
                try SQLDurability.raised(on: db) { () throws(SQLError) in
                    try transaction(lockTimeout, checksForeignKeys: checks, body)
                }
            }
        }
    }

    private func transaction<Value>(
        _ lockTimeout: Duration,
        checksForeignKeys: Bool,
        _ body: (_ checksForeignKeys: Bool) throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        let dialect = Connection.dialect
        try dialect.begin(db, wait: lockTimeout)
        do throws(SQLError) {
            let value = try body(checksForeignKeys)
            try SQLError.wrapping { try db.query("COMMIT") }
            return value
        } catch {
            throw dialect.rollingBack(db, after: error)
        }
    }
}
