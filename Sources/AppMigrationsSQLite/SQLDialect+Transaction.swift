extension SQLDialect {
    /// Begins the transaction of a migration, and waits until no other starter is in one.
    func begin(_ db: some SQLConnection, wait: Duration) throws(SQLError) {
        guard isSQLite else {
            // Read committed: after the lock, the ledger must be seen as the last holder left it.
            try SQLError.wrapping { try db.query("BEGIN ISOLATION LEVEL READ COMMITTED") }
            do throws(SQLError) {
                // It stays for the statements of the migration, which may wait for tables.
                try setLockTimeout("\(wait.wholeMilliseconds)", on: db)
                try takeAdvisoryLock(db, wait: wait)
            } catch {
                throw rollingBack(db, after: error)
            }
            return
        }
        do {
            // A plain BEGIN reads first and locks later: of two that do, one fails at once and is never
            // told to wait ("Transaction", "Read transactions versus write transactions").
            try lock(with: "BEGIN IMMEDIATE", db, wait: wait)
        } catch {
            guard try isInTransaction(db) else { throw error }
            throw SQLError(.alreadyInTransaction, "The connection is in a transaction already")
        }
    }

    /// Takes a lock that PostgreSQL gives back with the end of the transaction.
    private func takeAdvisoryLock(_ db: some SQLConnection, wait: Duration) throws(SQLError) {
        // Any number does, so long as every version of this library takes the same.
        try lock(with: "SELECT pg_advisory_xact_lock(4155207210473316)", db, wait: wait)
    }

    /// Takes the lock in the transaction of a caller, and leaves the caller's own wait for locks as it was.
    ///
    /// SQLite's lock comes with the first statement that writes.
    func takeLockInside(_ db: some SQLConnection, wait: Duration) throws(SQLError) {
        guard !isSQLite else { return }
        let before = try SQLError.wrapping { try db.query("SELECT current_setting('lock_timeout')") }
        guard case .text(let former) = before.first?.first else {
            throw SQLError(.statementFailed, "current_setting('lock_timeout') gave no text")
        }
        try setLockTimeout("\(wait.wholeMilliseconds)", on: db)
        try takeAdvisoryLock(db, wait: wait)
        try setLockTimeout("'\(former)'", on: db)
    }

    private func setLockTimeout(_ value: String, on db: some SQLConnection) throws(SQLError) {
        try SQLError.wrapping { try db.query("SET LOCAL lock_timeout = \(value)") }
    }

    /// Runs a statement that waits for the lock of the migrator.
    ///
    /// The errors of another library have codes of their own and words in any language. The statement does nothing
    /// but wait, so that one which failed after the whole wait could not have the lock.
    private func lock(
        with statement: String,
        _ db: some SQLConnection,
        wait: Duration
    ) throws(SQLError) {
        let began = ContinuousClock.now
        do throws(SQLError) {
            try SQLError.wrapping { try db.query(statement) }
        } catch {
            guard error.code == .statementFailed, began.duration(to: .now) >= max(wait, .milliseconds(1))
            else { throw error }
            var error = error
            error.code = .busy
            throw error
        }
    }

    /// Whether an SQLite connection is in a transaction, which its SQL can only tell by trying.
    ///
    /// A BEGIN takes no lock and fails inside a transaction only.
    func isInTransaction(_ db: some SQLConnection) throws(SQLError) -> Bool {
        if let db = db as? SQLiteConnection { return try db.isInTransaction }
        do {
            _ = try db.query("BEGIN")
        } catch {
            return true
        }
        try SQLError.wrapping { try db.query("ROLLBACK") }
        return false
    }

    /// Rolls back after an error, and gives the error to throw.
    ///
    /// SQLite may have ended the transaction itself, and a ROLLBACK fails then.
    func rollingBack(_ db: some SQLConnection, after error: SQLError) -> SQLError {
        do throws(SQLError) {
            try rollBack(db)
            return error
        } catch let failure {
            return error.adding(failure, of: "the rollback")
        }
    }

    func rollBack(_ db: some SQLConnection) throws(SQLError) {
        if let db = db as? SQLiteConnection {
            // One that SQLite ended is acknowledged by a ROLLBACK, too.
            if db.hasTransaction || db.hasEndedTransaction { try db.query("ROLLBACK") }
            return
        }
        do {
            try SQLError.wrapping { try db.query("ROLLBACK") }
        } catch {
            if isSQLite, !(try isInTransaction(db)) { return }
            throw error
        }
    }

    /// Runs `body` with the migrator's wait for locks instead of the connection's, and tells its errors which
    /// database they are about.
    func waiting<Value>(
        _ time: Duration,
        on db: some SQLConnection,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        guard isSQLite else { return try body() }
        do throws(SQLError) {
            return try waitingInSQLite(time, on: db, body)
        } catch {
            throw (db as? SQLiteConnection)?.naming(error) ?? error
        }
    }

    private func waitingInSQLite<Value>(
        _ time: Duration,
        on db: some SQLConnection,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        if let db = db as? SQLiteConnection, !db.isBorrowed { return try db.waiting(time, body) }
        let before = try SQLError.wrapping { try db.query("PRAGMA busy_timeout") }
        guard case .integer(let milliseconds) = before.first?.first else {
            throw SQLError(.statementFailed, "PRAGMA busy_timeout gave no number")
        }
        let isChanged = milliseconds != Int64(time.wholeMilliseconds)
        if isChanged { try set(busyTimeout: Int64(time.wholeMilliseconds), on: db) }
        let value: Value
        do throws(SQLError) {
            value = try body()
        } catch {
            guard isChanged else { throw error }
            do throws(SQLError) {
                try set(busyTimeout: milliseconds, on: db)
            } catch let failure {
                throw error.adding(failure, of: "setting the former wait for locks again")
            }
            throw error
        }
        if isChanged { try set(busyTimeout: milliseconds, on: db) }
        return value
    }

    private func set(busyTimeout milliseconds: Int64, on db: some SQLConnection) throws(SQLError) {
        try SQLError.wrapping { try db.query("PRAGMA busy_timeout = \(milliseconds)") }
    }
}
