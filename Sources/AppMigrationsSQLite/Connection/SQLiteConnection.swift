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
    public static var dialect: SQLDialect { .sqlite }

    // SQLITE_OPEN_FULLMUTEX makes the pointer usable from any thread; a borrowed one is used where its
    // owner allows.
    package nonisolated(unsafe) let handle: OpaquePointer
    package let isBorrowed: Bool

    /// The path of the database's file as SQLite opened it, empty for one in memory.
    package let path: String

    let state: Guarded<State>

    struct State {
        var isClosed = false
        /// How many calls of ``unlessClosed(_:)`` are under way.
        var uses = 0
        /// Why SQLite ended the transaction that the caller still believes in.
        var endedBy: String?
        var busyTimeout: Duration
        /// The beginning of a wait for a lock, by `Platform.uptime`.
        var waitingSince = Duration.zero
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

    deinit { if !isBorrowed, !state.withLock({ $0.isClosed }) { sqlite3_close_v2(handle) } }

    /// Closes the connection; every later call throws `SQLError.Code.closed`.
    ///
    /// Without it, the connection is closed with its last reference. A transaction that is still open is
    /// rolled back.
    public func close() {
        let closesNow = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed && state.uses == 0
        }
        if closesNow, !isBorrowed { sqlite3_close_v2(handle) }
    }

    /// Stops the statement that runs now, from any thread; it throws `SQLError.Code.cancelled`.
    ///
    /// SQLite rolls the whole transaction back when the statement was a write ("sqlite3_interrupt").
    public func interrupt() { unlessClosed { sqlite3_interrupt(handle) } }

    /// Calls `body` if the connection isn't closed.
    ///
    /// If it is closed while `body` runs, SQLite frees it after that.
    /// `body` runs without the lock of the state. SQLite has a lock of its own for each connection, and while it holds that, it calls
    /// the busy handler, which takes the lock of the state. Most functions of SQLite take SQLite's lock.
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

    /// The purpose of a connection, by the flags with which SQLite opens it.
    package struct Access {
        fileprivate let flags: Int32

        /// `SQLITE_OPEN_READONLY`.
        package static var reading: Access { Access(flags: 1) }
        /// Writing to a file that is there: `SQLITE_OPEN_READWRITE`.
        package static var writing: Access { Access(flags: 2) }
        /// Writing to a file that is made where there is none: with `SQLITE_OPEN_CREATE`.
        package static var making: Access { Access(flags: 6) }
    }

    static func open(_ path: String, _ access: Access) throws(SQLError) -> OpaquePointer {
        if path.isEmpty || path.utf8.contains(0) {
            throw SQLError(
                .cannotOpen,
                "The path of a database must not be empty or contain a zero byte; a database without a file is :memory:"
            ).with { $0.path = path }
        }
        var handle: OpaquePointer?
        // A library built with SQLITE_USE_URI takes each name that begins with "file:" for a URI.
        let isRelative = path.utf8.first != UInt8(ascii: "/") && path != ":memory:"
        let name = isRelative ? "./\(path)" : path
        let result = sqlite3_open_v2(name, &handle, access.flags | SQLITE_OPEN_FULLMUTEX, nil)
        guard result == SQLITE_OK, let handle else {
            var message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
            // "Whether or not an error occurs when it is opened, resources should be released"
            // (sqlite3_open).
            sqlite3_close_v2(handle)
            if result & 0xFF == SQLITE_CANTOPEN {
                message +=
                    ": its folder must exist, and a missing file is made only for writing"
            }
            throw SQLError(.cannotOpen, message).with { ($0.extendedResultCode, $0.path) = (result, path) }
        }
        return handle
    }

    var closedError: SQLError { naming(SQLError(.closed, "The connection was closed before")) }

    static func path(of handle: OpaquePointer) -> String {
        guard let name = sqlite3_db_filename(handle, "main") else { return "" }
        return String(cString: name)
    }

    /// Tells an error which database it is about, unless it knows its file.
    package func naming(_ error: SQLError) -> SQLError {
        guard error.path == nil, !path.isEmpty else { return error }
        return error.with { $0.path = path }
    }

    /// The number that an app or another library keeps in the file's header ("PRAGMA user_version").
    public var userVersion: Int64 {
        get throws(SQLError) { try SQLConversation(self).number("PRAGMA user_version") }
    }
}

/// A migrator of an SQLite database on a connection of this library.
public typealias SQLiteMigrator = SQLMigrator<SQLiteConnection>

/// A migration of an SQLite database on a connection of this library.
public typealias SQLiteMigration = SQLMigration<SQLiteConnection>
