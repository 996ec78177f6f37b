internal import AppMigrations
@_exported public import AppMigrationsSQL
internal import CAppMigrationsSQLite

/// A thin connection to an SQLite database, for migrations.
///
/// It is `Sendable`, so that ``interrupt()`` can be called while a statement runs. SQLite itself serializes
/// the calls of several threads. But a transaction belongs to the connection and not to a thread. So tasks
/// that run at the same time need a connection each.
///
/// If a task is cancelled while it runs a statement or waits for a lock, the statement stops and throws
/// `SQLError.Code.cancelled`. A very short statement may still complete.
///
/// Opening a connection sets no pragma. So foreign keys are on or off as in every new connection of this
/// SQLite, and the journal mode is the one that the file has.
public final class SQLiteConnection: SQLConnection, Sendable {
    public static var dialect: SQLDialect { .sqlite }

    // The connection is opened with SQLITE_OPEN_FULLMUTEX, so any thread may use the pointer. If the pointer
    // is borrowed, the caller must use it only on threads that its owner allows.
    package nonisolated(unsafe) let handle: OpaquePointer
    package let isBorrowed: Bool

    /// The path of the database's file as SQLite opened it; empty for a database in memory.
    package let path: String

    let state: Guarded<State>

    struct State {
        var isClosed = false

        /// The number of calls of ``unlessClosed(_:)`` that are under way.
        var uses = 0

        /// The message of the error with which SQLite ended the transaction by itself; otherwise `nil`.
        ///
        /// It is `nil` again after the caller has rolled back, and so knows that the transaction has ended.
        var endedBy: String?

        var busyTimeout: Duration

        /// True if SQLite may have run a `PRAGMA busy_timeout` itself, which replaces the busy handler.
        var mayLackBusyHandler = false

        /// How many calls of `withBusyTimeout` are under way, one inside of the other.
        var lockTimeoutDepth = 0

        /// The start of the current wait for a lock, by `Platform.uptime`.
        var waitingSince = Duration.zero

        var watch: StatementWatch?
    }

    /// Opens a database, and creates it if it is missing.
    ///
    /// SQLite reads the file with the first statement. So if the file isn't a database, the first statement
    /// throws.
    ///
    /// A process that crashed in a transaction leaves a hot journal, which the next connection must roll
    /// back. A read-only connection can't: "a hot journal exists and needs to be rolled back, but cannot
    /// because the database is opened read-only"
    /// ([SQLITE_READONLY_ROLLBACK](https://sqlite.org/rescode.html#readonly_rollback), 776). So open such a
    /// database for writing once, and read from it.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or `:memory:`. It is never read as a URI.
    ///   - readOnly: If true, every change is refused, a missing file is an error, and a hot journal makes
    ///     the first statement fail.
    ///   - busyTimeout: How long a statement waits for a lock of another connection. A migrator has its own
    ///     `lockTimeout`.
    /// - Throws: `SQLError` with the code `SQLError.Code.cannotOpen`.
    public convenience init(
        path: String,
        readOnly: Bool = false,
        busyTimeout: Duration = .seconds(5)
    ) throws(SQLError) {
        try self.init(path: path, access: readOnly ? .reading : .creating, busyTimeout: busyTimeout)
    }

    package init(path: String, access: Access, busyTimeout: Duration) throws(SQLError) {
        handle = try Self.open(path, for: access)
        isBorrowed = false
        self.path = Self.path(of: handle)
        state = Guarded(State(busyTimeout: busyTimeout))
        sqlite3_extended_result_codes(handle, 1)
        installHandlers()
    }

    /// Uses a connection that another library opened, the `sqlite3 *` of its C interface.
    ///
    /// This object doesn't close the connection, which must stay open as long as this object is used. The
    /// owner's authorizer, busy handler and progress handler stay in place. So cancelling a task doesn't
    /// stop a statement on a borrowed connection.
    public init(borrowing handle: OpaquePointer) {
        self.handle = handle
        isBorrowed = true
        path = Self.path(of: handle)
        state = Guarded(State(busyTimeout: .zero))
    }

    deinit { if !isBorrowed, !state.withLock({ $0.isClosed }) { sqlite3_close_v2(handle) } }

    /// Closes the connection; every later call throws `SQLError.Code.closed`.
    ///
    /// If you don't call this, the connection is closed when the last reference to this object is released.
    /// In both cases, a transaction that is still open is rolled back. A borrowed connection stays open for
    /// its owner, and so does its transaction.
    public func close() {
        let closesNow = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed && state.uses == 0
        }
        if closesNow, !isBorrowed { sqlite3_close_v2(handle) }
    }

    /// Stops the statement that is running, from any thread; it throws `SQLError.Code.cancelled`.
    ///
    /// If the statement is a write, SQLite rolls the whole transaction back ("sqlite3_interrupt").
    public func interrupt() { unlessClosed { sqlite3_interrupt(handle) } }

    /// Calls `body` if the connection isn't closed.
    ///
    /// If another thread calls ``close()`` while `body` runs, the connection is closed after `body` has
    /// returned.
    ///
    /// `body` runs without the lock of the state. SQLite has a lock of its own for each connection, which
    /// most of its functions take. While SQLite holds that lock, it calls the busy handler, which takes the
    /// lock of the state. So taking the two in the other order could deadlock.
    package func unlessClosed(_ body: () -> Void) {
        let isOpen = state.withLock { state in
            if state.isClosed { return false }
            state.uses += 1
            return true
        }
        if !isOpen { return }
        body()
        let closesNow = state.withLock { state in
            state.uses -= 1
            return state.isClosed && state.uses == 0
        }
        if closesNow, !isBorrowed { sqlite3_close_v2(handle) }
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
    /// - Throws: `SQLError`:
    ///   - with SQLite's message, if the statement fails
    ///   - with the code `SQLError.Code.invalidQuery`, if `sql` isn't exactly one statement, or the number of
    ///     arguments is wrong
    ///   - with the code `SQLError.Code.transactionEnded`, if SQLite ended the transaction in an earlier
    ///     statement and it hasn't been rolled back since
    @discardableResult
    public func query(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> [[SQLValue]] {
        if try handleRollbackAfterEndedTransaction(sql) { return [] }
        if let rows = try handleBusyTimeoutPragma(sql) { return rows }
        let statement = try prepare(sql)
        try statement.bind(arguments)
        var rows = [[SQLValue]]()
        while try statement.step() { rows.append(try statement.row()) }
        return rows
    }

    /// Runs one statement that has no parameters, and returns its rows.
    @discardableResult
    public func query(_ sql: String) throws(SQLError) -> [[SQLValue]] { try query(sql, []) }

    var closedError: SQLError { addingPath(to: SQLError(.closed, "The connection is closed")) }

    /// Adds the path of this database to an error that has no path.
    package func addingPath(to error: SQLError) -> SQLError {
        guard error.path == nil, !path.isEmpty else { return error }
        return error.with { $0.path = path }
    }

    /// The number that an app or another library stores in the file's header ("PRAGMA user_version").
    public var userVersion: Int64 {
        get throws(SQLError) { try SQLConversation(self).number("PRAGMA user_version") }
    }
}
