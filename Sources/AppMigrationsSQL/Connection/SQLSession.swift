internal import AppMigrations

/// The statements of a migrator that differ between databases, and the transactions and settings around a
/// migration.
///
/// To support another database, write a type that conforms to this protocol.
package protocol SQLSession {
    /// The connection that the statements go to.
    var db: SQLConversation { get }

    /// The placeholder for a parameter in a statement. Parameters are counted from 1.
    func placeholder(_ number: Int) -> String

    /// The quoted name of a table for statements, before ``columns(of:)`` has returned its name with a
    /// schema.
    ///
    /// In SQLite it begins with the schema (`main.`), so that a temporary table of the same name doesn't hide
    /// the table.
    func quoted(_ table: String) -> String

    /// The clause after a table's name that makes a statement read the table itself, and none of its indexes.
    ///
    /// An index that lacks a row is the most common damage of an SQLite file. If a ledger were read through
    /// such an index, an applied migration could be missing from the result, and would run twice.
    var withoutIndex: String { get }

    /// The type of integers with 64 bits.
    var integerType: String { get }

    /// One row for each column of a table, with the column's name and type; no row if the table doesn't
    /// exist.
    ///
    /// If the database has a search path, a third value is the table's name with its schema, for statements.
    func columns(of table: String) throws(SQLError) -> SQLRows

    /// Reads a ledger in one statement, if the connection can tell that it has exactly these columns.
    ///
    /// Calls `body` with the version of each row, and with the checksum in the row of the version `newest`
    /// (`nil` in other rows).
    ///
    /// - Returns: False if the table is missing or has other columns, or if the connection can't tell. Then
    ///   `body` wasn't called, and the caller reads the columns first.
    func readLedger(
        _ table: String,
        with columns: [LedgerColumn],
        newest: Int64?,
        _ body: (_ version: SQLValue, _ checksum: SQLValue?) throws(SQLError) -> Void
    ) throws(SQLError) -> Bool

    /// A query for the names of all tables and views.
    var tables: String { get }

    /// Inserts a row.
    ///
    /// - Returns: True if the connection can tell that this row was inserted and no other row was changed,
    ///   for example by a trigger.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool

    /// A number that changes when another connection commits; `nil` if the connection can't tell.
    func dataVersion() throws(SQLError) -> Int64?

    /// Runs `body`, and finds out whether it wrote to `table`.
    ///
    /// - Returns: True if the connection can tell that `body` did not write to `table`. False if it wrote, or
    ///   if the connection can't tell.
    func isKnownUnwritten(_ table: String, after body: SQLOperation) throws(SQLError) -> Bool

    /// Throws if the database would accept a script but not do what its author meant.
    ///
    /// If `isOutsideTransaction` is true, also throws if the script can't run outside of a transaction, or
    /// can't safely run twice.
    func check(_ script: String, isOutsideTransaction: Bool) throws(SQLError)

    /// Runs a script in the migration's transaction, and throws if the script ended it.
    ///
    /// `sharesTransaction` is true if other migrations run in the same transaction.
    func run(script: String, sharesTransaction: Bool) throws(SQLError)

    /// Runs a script outside of a transaction, and then calls `record` in a transaction.
    ///
    /// Does nothing if `isApplied` returns true.
    ///
    /// Each statement that this sends contains `name` in a comment. From that comment, other hosts see that
    /// the script is running.
    func runOutsideTransaction(
        _ script: String,
        as name: String,
        _ lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool,
        record: SQLOperation
    ) throws(SQLError)

    /// Begins the transaction of a migration, and takes the migrator's lock.
    ///
    /// If another process has the lock, this waits for it. If `durably` is true, the commit must survive a
    /// power failure.
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError)

    /// Commits. If another process keeps the database from being written, this waits for it.
    func commit(_ lock: SQLLockWait) throws(SQLError)

    /// Takes the migrator's lock in a transaction that the caller has begun.
    func join(_ lock: SQLLockWait) throws(SQLError)

    /// Restores the settings of the connection that a script or a closure may have changed.
    func restoreSettings() throws(SQLError)

    /// Rolls back; does nothing if the database has already ended the transaction.
    func rollBack() throws(SQLError)

    /// Runs `body` with the migrator's wait for locks (`time`) instead of the wait that the connection has.
    func withLockTimeout(_ time: Duration, _ body: SQLOperation) throws(SQLError)

    /// Runs `body`, which begins a transaction, with foreign keys off.
    ///
    /// `body` passes each migration to the function `checking`, which runs it. If foreign keys were on
    /// before, `checking` then throws if the migration added a foreign key violation.
    func withoutForeignKeys(_ body: (_ checking: @escaping ForeignKeyChecking) throws(SQLError) -> Void)
        throws(SQLError)

    /// Runs `body`, which begins a transaction, and sets how durable its commits are.
    ///
    /// If `isDurable` is true, a commit has reached the disk when it returns, so a power failure can't undo
    /// it. If `isDurable` is false, a power failure can undo the commit, until a later durable commit has
    /// returned.
    func withCommits(durable isDurable: Bool, _ body: SQLOperation) throws(SQLError)
}

/// A function that runs an operation, and then throws if the operation added a foreign key violation.
///
/// The number is the current data version (``SQLSession/dataVersion()``), or `nil` if the caller doesn't know
/// it. The function returns a sentence for each table that still has violations from before.
package typealias ForeignKeyChecking =
    (_ dataVersion: Int64?, SQLOperation) throws(SQLError) -> [String]

/// Runs an operation without checking foreign keys.
package func unchecked(_: Int64?, _ operation: SQLOperation) throws(SQLError) -> [String] {
    try operation()
    return []
}

extension SQLSession {
    package func restoreSettings() {}

    package func readLedger(
        _ table: String,
        with columns: [LedgerColumn],
        newest: Int64?,
        _ body: (_ version: SQLValue, _ checksum: SQLValue?) throws(SQLError) -> Void
    ) throws(SQLError) -> Bool { false }

    package func commit(_ lock: SQLLockWait) throws(SQLError) { try db.query("COMMIT") }

    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool {
        try db.query(sql, arguments)
        return false
    }

    package func dataVersion() throws(SQLError) -> Int64? { nil }

    package func isKnownUnwritten(_ table: String, after body: SQLOperation) throws(SQLError) -> Bool {
        try body()
        return false
    }

    /// Runs `body` in a migration's transaction.
    ///
    /// Commits at the end, and rolls back after an error.
    package func transaction(
        _ lock: SQLLockWait,
        durably: Bool = false,
        _ body: SQLOperation
    ) throws(SQLError) {
        try begin(lock, durably: durably)
        do throws(SQLError) {
            try body()
            try commit(lock)
        } catch { throw rollingBack(after: error) }
    }

    /// Rolls back now, and returns `error`, to which a failure of the rollback is added.
    package func rollingBack(after error: SQLError) -> SQLError {
        db.runCleanup("the rollback", after: error) { () throws(SQLError) in try rollBack() }
    }

    /// Runs a statement that waits for the lock of the migrator.
    ///
    /// The errors of another library have codes of their own, and messages in any language. But the statement
    /// does nothing except wait for the lock. So if it failed after the whole wait, it couldn't get the lock.
    package func lock(limit: Duration, with statement: SQLOperation) throws(SQLError) {
        let began = Platform.uptime
        do throws(SQLError) { try statement() } catch {
            let hasWaited = Platform.uptime - began >= max(limit, .milliseconds(1))
            throw error.code == .statementFailed && hasWaited ? error.with { $0.code = .busy } : error
        }
    }

    /// Runs `body`, and throws if it ended the transaction.
    ///
    /// A savepoint that is set before `body` shows that: if it is gone afterwards, the transaction has ended.
    /// If `body` throws, the savepoint remains, and the caller can roll back to it.
    package func guardingTransaction(_ body: SQLOperation) throws(SQLError) {
        try db.query("SAVEPOINT app_migrations_guard")
        try body()
        do throws(SQLError) { try db.query("RELEASE SAVEPOINT app_migrations_guard") } catch {
            if error.code == .transactionEnded || error.code == .cancelled { throw error }
            // A lost connection, or any SQLSTATE except 3B001 (no such savepoint) and 25P01 (no transaction),
            // is another problem.
            let isOfOtherState = error.sqlState.map { !["3B001", "25P01"].contains($0) } ?? false
            if error.facts.isOfLostConnection || isOfOtherState { throw error }
            throw SQLError.endedTransaction(after: error)
        }
        try restoreSettings()
    }
}

extension Duration {
    /// The milliseconds: at least 1, and at most the highest number that databases accept.
    package var wholeMilliseconds: Int32 { Int32(max(1, min(self / .milliseconds(1), Double(Int32.max)))) }
}
