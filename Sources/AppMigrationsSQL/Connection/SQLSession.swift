/// A connection as the migrator sees it: the statements that each dialect writes in its own way, and what surrounds a
/// migration there.
package protocol SQLSession {
    var db: any SQLConnection { get }

    /// A parameter, counted from 1.
    func placeholder(_ number: Int) -> String

    /// What stands before the name of a table, which a temporary one of the same name must not hide.
    var schema: String { get }

    /// The type of whole numbers with 64 bits.
    var integerType: String { get }

    /// The time now in UTC, as text.
    var now: String { get }

    /// The names and the types of a table's columns, one a row; no row where there is no such table.
    func columns(of table: String) throws(SQLError) -> [[SQLValue]]

    /// Whether the database has a table that a script names.
    func has(_ table: TablesOfTexts.Table) throws(SQLError) -> Bool

    /// Whether a transaction stays open after a statement that failed.
    var goesOnAfterErrors: Bool { get }

    /// Runs a statement, and hands over the first value of each of its rows.
    func forEachFirst(of sql: String, _ body: (SQLValue?) throws(SQLError) -> Void) throws(SQLError)

    /// Refuses a script that the database would accept and read in another way than its author meant.
    func check(_ script: SQLScript) throws(SQLError)

    /// Runs a script in the migration's transaction, which is still there afterwards.
    func run(script: String) throws(SQLError)

    /// Begins the transaction of a migration, and waits until no other process is in one.
    func begin(wait: Duration) throws(SQLError)

    /// Takes the migrator's lock in the transaction of a caller.
    func join(wait: Duration) throws(SQLError)

    /// Runs `body`, and throws where the transaction is another one afterwards.
    func inOneTransaction(_ body: () throws -> Void) throws(SQLError)

    /// Rolls back, also where the database has ended the transaction by itself.
    func rollBack() throws(SQLError)

    /// Runs `body` with the migrator's wait for locks instead of the connection's.
    func waiting(_ time: Duration, _ body: () throws(SQLError) -> Void) throws(SQLError)

    /// Runs `body`, which begins a transaction, with foreign keys off.
    ///
    /// `body` is told whether they were on, and what it leaves is to be checked.
    func withoutForeignKeys(_ body: (_ checks: Bool) throws(SQLError) -> Void) throws(SQLError)

    /// Runs `body`, and refuses rows that refer to none and did not before.
    func checkingReferences(_ body: () throws(SQLError) -> Void) throws(SQLError)

    /// Runs `body`, which begins a transaction, with commits that last when the power fails.
    func durably(_ body: () throws(SQLError) -> Void) throws(SQLError)

    /// Runs `body`, which begins a transaction, with commits that last once a durable one follows.
    func beforeDurable(_ body: () throws(SQLError) -> Void) throws(SQLError)
}

extension SQLSession {
    /// A table in quotes.
    func table(_ name: String) -> String { schema + name.quoted(with: "\"") }

    /// Runs `body` in a transaction of a migration, and rolls it back after an error.
    package func transaction(wait: Duration, _ body: () throws(SQLError) -> Void) throws(SQLError) {
        try begin(wait: wait)
        do throws(SQLError) {
            try body()
            try db.rows("COMMIT")
        } catch {
            throw rollingBack(after: error)
        }
    }

    /// Rolls back after an error, and gives the error to throw.
    package func rollingBack(after error: SQLError) -> SQLError {
        do throws(SQLError) {
            try rollBack()
            return error
        } catch let failure {
            return error.adding(failure, of: "the rollback")
        }
    }

    /// Runs a statement that waits for the lock of the migrator.
    ///
    /// The errors of another library have codes of their own and words in any language. The statement does nothing
    /// but wait, so that one which failed after the whole wait could not have the lock.
    package func lock(with statement: String, wait: Duration) throws(SQLError) {
        let began = ContinuousClock.now
        do throws(SQLError) {
            try db.rows(statement)
        } catch {
            guard error.code == .statementFailed, began.duration(to: .now) >= max(wait, .milliseconds(1))
            else { throw error }
            var error = error
            error.code = .busy
            throw error
        }
    }

    package func inOneTransaction(_ body: () throws -> Void) throws(SQLError) { try behindSavepoint(body) }

    /// Runs `body` behind a savepoint, and finds out whether its transaction is still the one it began in: the
    /// savepoint is gone with a transaction that ended.
    package func behindSavepoint(findingLocks: Bool = false, _ body: () throws -> Void) throws(SQLError) {
        try db.rows("SAVEPOINT app_migrations_guard")
        do {
            try body()
        } catch {
            throw SQLError.wrapped(error, as: .migrationFailed, findingLocks: findingLocks)
        }
        do throws(SQLError) {
            try db.rows("RELEASE SAVEPOINT app_migrations_guard")
        } catch {
            if error.code == .transactionEnded { throw error }
            var ended = SQLError.endedTransaction
            ended.underlyingError = error
            throw ended
        }
    }
}

extension SQLError {
    package static var endedTransaction: SQLError {
        SQLError(
            .transactionEnded,
            "The migration ended its transaction; what it did before may have been committed, and it is not recorded"
        )
    }
}

extension Duration {
    /// Milliseconds, at least 1 and at most what databases take.
    package var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1_000 else { return .max }
        return max(1, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}
