internal import AppMigrations

/// A database as the migrator sees it: the statements that each dialect writes in its own way, and what surrounds a
/// migration there.
package protocol SQLSession {
    /// The connection that the statements go to.
    var db: SQLConversation { get }

    /// A parameter, counted from 1.
    func placeholder(_ number: Int) -> String

    /// The name of a table as it stands in a statement until its columns are known.
    ///
    /// A temporary table of the same name must not hide it.
    func quoted(_ table: String) -> String

    /// The clause after a table's name by which a statement reads the table itself, and none of its indexes.
    ///
    /// An index that lacks a row is the most common damage of an SQLite file. A ledger that was read by such an index
    /// would run a migration twice.
    var withoutIndex: String { get }

    /// The type of whole numbers with 64 bits.
    var integerType: String { get }

    /// The names and the types of a table's columns, one a row, with the table as it stands in a statement where the database has
    /// a search path for it; no row where there is no such table.
    func columns(of table: String) throws(SQLError) -> SQLRows

    /// A query for the names of all tables and views.
    var tables: String { get }

    /// True if a transaction stays open after a statement that failed.
    var goesOnAfterErrors: Bool { get }

    /// Gives each value of a statement with one column.
    func values(of sql: String, _ body: (SQLValue) throws(SQLError) -> Void) throws(SQLError)

    /// Inserts a row; true if the connection tells that this row was changed and no other one, by a trigger for instance.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool

    /// A number that is another one once another connection has committed; `nil` where the connection doesn't tell.
    func dataVersion() throws(SQLError) -> Int64?

    /// Runs `body`; true if the connection tells that it did not write a table.
    func leaves(_ table: String, _ body: SQLRules) throws(SQLError) -> Bool

    /// Refuses a script that the database would accept and read in another way than its author meant.
    func check(_ script: String) throws(SQLError)

    /// Runs a script in the migration's transaction, which is still there afterwards.
    ///
    /// `sharesTransaction` is true if other migrations run in the same transaction.
    func run(script: String, sharesTransaction: Bool) throws(SQLError)

    /// Refuses a script that can't run outside of a transaction, or not twice.
    func checkAlone(_ script: String) throws(SQLError)

    /// Runs such a script, of which other hosts hear by a name, and then `record` in a transaction; nothing where it is applied.
    func runAlone(
        _ script: String,
        as name: String,
        _ lock: SQLLockWait,
        isApplied: () throws(SQLError) -> Bool,
        record: SQLRules
    ) throws(SQLError)

    /// Begins the transaction of a migration, and waits until no other process is in one.
    func begin(_ lock: SQLLockWait, durably: Bool) throws(SQLError)

    /// Commits, and waits until no other process keeps the database from being written.
    func commit(_ lock: SQLLockWait) throws(SQLError)

    /// Takes the migrator's lock in the transaction of a caller.
    func join(_ lock: SQLLockWait) throws(SQLError)

    /// Sets back what a script or a closure may have set in the connection's session.
    func restoreSettings() throws(SQLError)

    /// Rolls back, also where the database has ended the transaction by itself.
    func rollBack() throws(SQLError)

    /// Runs `body` with the migrator's wait for locks instead of the connection's.
    func waiting(_ time: Duration, _ body: SQLRules) throws(SQLError)

    /// Runs `body`, which begins a transaction, with foreign keys off.
    ///
    /// Where they were on, all that `checking` runs leaves no row that refers to none and did not before it; it tells of the
    /// others, a sentence for each table.
    func withoutForeignKeys(_ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void)
        throws(SQLError)

    /// Runs `body`, which begins a transaction, with commits that last when the power fails: at once where they are to be
    /// durable, else as soon as a durable one follows.
    func lasting(durably: Bool, _ body: SQLRules) throws(SQLError)
}

/// Runs rules at a data version, where it is known, looks afterwards at what they left, and tells of what they found broken.
package typealias SQLChecking = (Int64?, SQLRules) throws(SQLError) -> [String]

package func unchecked(_: Int64?, _ rules: SQLRules) throws(SQLError) -> [String] {
    try rules()
    return []
}

/// How long to wait for the lock of a ledger, and what comes before a wait.
package struct SQLLockWait {
    package let limit: Duration
    /// The table whose lock it is, where a database has more than one.
    package let ledger: String?
    /// Called when the lock isn't free; `nil` where nobody is told.
    package let beforeWaiting: SQLRules?

    package init(_ limit: Duration, ledger: String? = nil, beforeWaiting: SQLRules? = nil) {
        self.limit = limit
        self.ledger = ledger
        self.beforeWaiting = beforeWaiting
    }
}

extension SQLSession {
    package func restoreSettings() {}

    package func commit(_ lock: SQLLockWait) throws(SQLError) { try db.query("COMMIT") }

    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool {
        try db.query(sql, arguments)
        return false
    }

    package func dataVersion() throws(SQLError) -> Int64? { nil }
    package func leaves(_ table: String, _ body: SQLRules) throws(SQLError) -> Bool {
        try body()
        return false
    }

    /// Runs `body` in a transaction of a migration, and rolls it back after an error.
    package func transaction(_ lock: SQLLockWait, durably: Bool = false, _ body: SQLRules) throws(SQLError) {
        try begin(lock, durably: durably)
        do throws(SQLError) {
            try body()
            try commit(lock)
        } catch { throw rollingBack(after: error) }
    }

    /// Rolls back, and returns the error that made it necessary.
    package func rollingBack(after error: SQLError) -> SQLError {
        db.undoing("the rollback", after: error) { () throws(SQLError) in try rollBack() }
    }

    /// Runs a statement that waits for the lock of the migrator.
    ///
    /// The errors of another library have codes of their own and words in any language. The statement does nothing
    /// but wait, so that one which failed after the whole wait could not have the lock.
    package func lock(limit: Duration, with statement: SQLRules) throws(SQLError) {
        let began = Platform.uptime
        do throws(SQLError) { try statement() } catch {
            let hasWaited = Platform.uptime - began >= max(limit, .milliseconds(1))
            throw error.code == .statementFailed && hasWaited ? error.with { $0.code = .busy } : error
        }
    }

    /// Runs `body` behind a savepoint, and finds out whether its transaction is still the one it began in: the
    /// savepoint is gone with a transaction that ended.
    package func behindSavepoint(_ body: SQLRules) throws(SQLError) {
        try db.query("SAVEPOINT app_migrations_guard")
        try body()
        do throws(SQLError) { try db.query("RELEASE SAVEPOINT app_migrations_guard") } catch {
            if error.code == .transactionEnded || error.code == .cancelled { throw error }
            // Without a savepoint or a transaction these are the states. With another one the connection has ended, for example.
            if let state = error.sqlState, !["3B001", "25P01"].contains(state) { throw error }
            throw SQLError.endedTransaction(after: error)
        }
        try restoreSettings()
    }
}

extension Duration {
    /// Milliseconds, at least 1 and at most what databases take.
    package var wholeMilliseconds: Int32 { Int32(max(1, min(self / .milliseconds(1), Double(Int32.max)))) }
}
