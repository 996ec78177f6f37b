internal import AppMigrations
@_exported public import AppMigrationsSQL
internal import CAppMigrationsSQLite

/// A thin connection to an SQLite database, for migrations.
///
/// It is `Sendable` so that ``interrupt()`` can be called while a statement runs, and SQLite itself
/// serialises the calls of several threads. A transaction belongs to the connection and not to the thread,
/// though: one sequence of work has one connection.
///
/// A statement that takes longer than a moment stops where its task is cancelled, and throws
/// `SQLError.Code.cancelled`; so does the wait for a lock. The connection changes no setting of the database: foreign keys and the journal
/// mode are as SQLite has them.
public final class SQLiteConnection: SQLConnection, Sendable {
    // SQLITE_OPEN_FULLMUTEX makes the pointer usable from any thread; a borrowed one is used where its
    // owner allows.
    package nonisolated(unsafe) let handle: OpaquePointer
    package let isBorrowed: Bool

    /// The path of the database's file as SQLite opened it, empty for one in memory.
    package let path: String

    let state: Guarded<State>

    struct State {
        var isClosed = false
        /// Why SQLite ended the transaction that the caller still believes in.
        var endedBy: String?
        var busyTimeout: Duration
        var wait: Wait?
        var watch: StatementWatch?
    }

    /// Opens a database, and makes it where there is none.
    ///
    /// SQLite reads the file with the first statement, so that one which is no database throws there.
    ///
    /// A process that died in a transaction leaves a hot journal, which the next connection has to roll back. One that is read
    /// only can't: "a hot journal exists and needs to be rolled back, but cannot because the database is opened read-only"
    /// ([SQLITE_READONLY_ROLLBACK](https://sqlite.org/rescode.html#readonly_rollback), 776). So open such a database for
    /// writing once, and read from it.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or `:memory:`. It is never read as a URI.
    ///   - readOnly: True refuses every change. A file that is not there is an error then, and a hot journal with the
    ///     first statement.
    ///   - busyTimeout: How long a statement waits for a lock of another connection. A migrator has its own
    ///     wait.
    /// - Throws: `SQLError` with the code `SQLError.Code.cannotOpen`.
    public convenience init(
        path: String,
        readOnly: Bool = false,
        busyTimeout: Duration = .seconds(5)
    ) throws(SQLError) {
        try self.init(path: path, readOnly ? .reading : .making, busyTimeout)
    }

    package init(path: String, _ access: Access, _ busyTimeout: Duration) throws(SQLError) {
        handle = try Self.open(path, access)
        isBorrowed = false
        self.path = Self.path(of: handle)
        state = Guarded(State(busyTimeout: busyTimeout))
        sqlite3_extended_result_codes(handle, 1)
        installHandlers()
    }

    /// Uses a connection that another library opened, the `sqlite3 *` of its C interface.
    ///
    /// It is not closed, and must stay open as long as this object is used. The owner's authorizer, busy and
    /// progress handlers stay in place, so that a cancelled task does not stop a statement here.
    public init(borrowing handle: OpaquePointer) {
        self.handle = handle
        isBorrowed = true
        path = Self.path(of: handle)
        state = Guarded(State(busyTimeout: .zero))
    }

    deinit {
        if !isBorrowed, !state.withLock({ $0.isClosed }) { sqlite3_close_v2(handle) }
    }

    /// Closes the connection; every later call throws `SQLError.Code.closed`.
    ///
    /// Without it, the connection is closed with its last reference. A transaction that is still open is
    /// rolled back.
    public func close() {
        let closesNow = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if closesNow, !isBorrowed { sqlite3_close_v2(handle) }
    }

    /// Stops the statement that runs now, from any thread; it throws `SQLError.Code.cancelled`.
    ///
    /// SQLite rolls the whole transaction back when the statement was a write ("sqlite3_interrupt").
    public func interrupt() { unlessClosed { sqlite3_interrupt(handle) } }

    /// Calls `body` where the connection wasn't closed; the lock keeps close() from freeing it meanwhile.
    package func unlessClosed(_ body: () -> Void) {
        state.withLock { state in
            if !state.isClosed { body() }
        }
    }

    /// True if a transaction is open.
    public var isInTransaction: Bool {
        get throws(SQLError) {
            if state.withLock({ $0.isClosed }) { throw closedError }
            return hasTransaction
        }
    }

    /// Runs one statement.
    ///
    /// - Parameters:
    ///   - sql: One statement. Blanks, comments and a semicolon may follow it.
    ///   - arguments: A value for each of its parameters, in order.
    /// - Returns: Its rows, each with the values of its columns in order.
    /// - Throws: `SQLError`: what SQLite says of the statement; `SQLError.Code.invalidQuery` for none
    ///   or several statements and a wrong number of arguments; `SQLError.Code.transactionEnded` when
    ///   SQLite ended the transaction in an earlier statement and no rollback has come since.
    @discardableResult
    public func query(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> [[SQLValue]] {
        if try acknowledgesEndedTransaction(sql) { return [] }
        if let rows = try busyTimeout(bySQL: sql) { return rows }
        let statement = try prepare(sql)
        try statement.bind(arguments)
        var rows = [[SQLValue]]()
        while try statement.step() { rows.append(try statement.row()) }
        return rows
    }

    /// Runs one statement that has no parameters, and returns its rows.
    @discardableResult
    public func query(_ sql: String) throws(SQLError) -> [[SQLValue]] { try query(sql, []) }

    /// Runs one statement that has no parameters, and gives the first value of each of its rows.
    func values(of sql: String, _ body: (SQLValue) throws(SQLError) -> Void) throws(SQLError) {
        let statement = try prepare(sql)
        try statement.bind([])
        while try statement.step() { try body(try statement.value(at: 0)) }
    }
}

/// A migrator of an SQLite database on a connection of this library.
public typealias SQLiteMigrator = SQLMigrator<SQLiteConnection>

/// A migration of an SQLite database on a connection of this library.
public typealias SQLiteMigration = SQLMigration<SQLiteConnection>
