package import AppMigrationsSQL

/// The SQL that a migrator needs for SQLite, on a connection of any library.
package struct SQLiteSession: SQLSession {
    package let db: SQLConversation

    /// The connection, if it is an `SQLiteConnection`; otherwise `nil`.
    ///
    /// It can answer questions that can't be asked in SQL.
    let ownConnection: SQLiteConnection?

    package init(_ db: SQLConversation) {
        self.db = db
        ownConnection = db.connection(as: SQLiteConnection.self)
    }

    package func placeholder(_ number: Int) -> String { "?\(number)" }

    package func quoted(_ table: String) -> String { "main." + table.quoted(with: "\"") }

    // See https://sqlite.org/lang_indexedby.html, "The NOT INDEXED clause".
    package var withoutIndex: String { " NOT INDEXED" }

    package var integerType: String { "INTEGER" }

    package func columns(of table: String) throws(SQLError) -> SQLRows {
        try db.query("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package func readLedger(
        _ table: String,
        with columns: [LedgerColumn],
        newest: Int64?,
        _ body: (_ version: SQLValue, _ checksum: SQLValue?) throws(SQLError) -> Void
    ) throws(SQLError) -> Bool {
        guard let ownConnection else { return false }
        let statement: SQLiteConnection.Statement
        // Concatenated, because an interpolation would allocate more than 63 bytes. When such a string is
        // freed, Swift instantiates a type. In the first call of a process, that takes as long as a
        // statement.
        do throws(SQLError) {
            statement = try ownConnection.prepare("SELECT * FROM " + (quoted(table) + withoutIndex))
        } catch {
            // Usually this means that the table is missing. After any other error, the caller's next
            // statement fails with the same error. But after `busy`, it would wait for the lock again.
            if error.code == .busy { throw error }
            return false
        }
        guard statement.hasColumns(columns, ofTable: table) else { return false }
        while try statement.step() {
            let version = try statement.value(at: 0)
            // Not `nil`, which would be the SQL value NULL.
            try body(version, version.number == newest ? statement.value(at: 2) : Optional.none)
        }
        return true
    }

    package var tables: String { "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view')" }

    /// Calls `body` with each value of a statement that has one column.
    package func values(of sql: String, _ body: (SQLValue) throws(SQLError) -> Void) throws(SQLError) {
        guard let statement = try ownConnection?.prepare(sql) else {
            for row in try db.query(sql) { for value in row { try body(value) } }
            return
        }
        while try statement.step() { try body(try statement.value(at: 0)) }
    }

    /// Returns true if it is certain that exactly one row was inserted, and that no trigger changed another
    /// row.
    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool {
        let before = ownConnection?.changes
        try db.query(sql, arguments)
        guard let before, let after = ownConnection?.changes else { return false }
        return after.last == 1 && after.all == before.all &+ 1
    }

    package func dataVersion() throws(SQLError) -> Int64? {
        reportsWrites ? try number(of: "data_version") : nil
    }

    func number(of pragma: String) throws(SQLError) -> Int64 { try db.number("PRAGMA \(pragma)") }

    func set(_ pragma: String, to number: Int64) throws(SQLError) {
        try db.query("PRAGMA \(pragma) = \(number)")
    }

    /// A pragma, and the lowest value that it must have.
    private typealias Minimum = (pragma: String, value: Int64)

    /// The pragmas that decide whether a commit survives a power failure.
    ///
    /// The state file, outside of the database, is written durably, and records that a migration is done. So
    /// the migration's commit must reach the disk before the state file does. "WAL mode does lose
    /// durability. A transaction committed in WAL mode with synchronous=NORMAL might roll back following a
    /// power loss". With a rollback journal, only "EXTRA provides additional durability if the commit is
    /// followed closely by a power loss" (PRAGMA synchronous). On Apple's systems, a sync only reaches the
    /// disk itself with PRAGMA fullfsync.
    private static let durability: [Minimum] = [("synchronous", 3), ("fullfsync", 1)]

    /// Runs `body` with or without durable commits.
    ///
    /// If `isDurable` is true, each commit is on the disk when it returns. Otherwise a power failure may undo
    /// a commit, until a later durable commit has returned.
    ///
    /// For commits that aren't durable, synchronous=OFF is raised to NORMAL in WAL mode. With OFF, a
    /// checkpoint may copy the log into the database without a sync, and the next commit may then overwrite
    /// the log from its start. A later durable commit syncs only the log, so the earlier commits could still
    /// be lost.
    package func withCommits(durable isDurable: Bool, _ body: SQLOperation) throws(SQLError) {
        if isDurable { return try raising(Self.durability[...], during: body) }
        if try number(of: "synchronous") != 0 { return try body() }
        let isWAL = try db.query("PRAGMA main.journal_mode") == [["wal"]]
        try raising(isWAL ? [("synchronous", 1)] : [], during: body)
    }

    /// Raises each pragma to its minimum, runs `body`, and restores the pragmas in reverse order.
    ///
    /// Each call handles the first pragma, and calls itself for the rest.
    private func raising(_ minimums: ArraySlice<Minimum>, during body: SQLOperation) throws(SQLError) {
        guard let minimum = minimums.first else { return try body() }
        let before = try number(of: minimum.pragma)
        if before >= minimum.value { return try raising(minimums.dropFirst(), during: body) }
        try setOutsideTransaction(minimum.pragma, to: minimum.value)
        try db.withCleanup("setting the pragmas back") { () throws(SQLError) in
            try setOutsideTransaction(minimum.pragma, to: before)
        } _: { () throws(SQLError) in
            try raising(minimums.dropFirst(), during: body)
        }
    }

    /// Sets a pragma that SQLite refuses to change inside a transaction.
    private func setOutsideTransaction(_ pragma: String, to number: Int64) throws(SQLError) {
        do throws(SQLError) { try set(pragma, to: number) } catch {
            throw try isInTransaction() ? SQLError.inTransaction : error
        }
    }

    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may need to violate foreign keys before its end. And while foreign keys are on, dropping a
    /// table deletes the rows that refer to it. "This pragma is a no-op within a transaction" (PRAGMA
    /// foreign_keys). So they are turned off before the transaction, and the pragma is read back to find out
    /// whether it worked.
    ///
    /// If `body` calls `checking` several times, each call compares with the violations that the previous
    /// call found.
    package func withoutForeignKeys(
        _ body: (_ checking: @escaping ForeignKeyChecking) throws(SQLError) -> Void
    ) throws(SQLError) {
        guard try hasForeignKeys() else { return try body(unchecked) }
        try db.withCleanup("turning the foreign keys on again") { () throws(SQLError) in
            // The C function is used if possible, because a statement could be interrupted.
            if let ownConnection { ownConnection.turnForeignKeysOn() } else { try setForeignKeys(true) }
        } _: { () throws(SQLError) in
            try setForeignKeys(false)
            try body(ForeignKeyCheck(self).runChecked)
        }
    }

    /// True if SQLite enforces foreign keys.
    ///
    /// If SQLite was built without foreign keys, the pragma returns no row.
    package func hasForeignKeys() throws(SQLError) -> Bool {
        try db.query("PRAGMA foreign_keys").first?.first?.number == 1
    }

    private func setForeignKeys(_ on: Bool) throws(SQLError) {
        try db.query("PRAGMA foreign_keys = \(on ? "ON" : "OFF")")
        if try hasForeignKeys() == on { return }
        throw SQLError(.alreadyInTransaction, "SQLite can't turn foreign keys on or off in a transaction")
    }

    /// True if the connection can report which tables a statement writes.
    var reportsWrites: Bool { ownConnection?.isBorrowed == false }

    /// Runs `body`, and returns a watch with the tables that it may have written; `nil` if the connection
    /// can't report them.
    func runWatchingWrites(_ body: SQLOperation) throws(SQLError) -> StatementWatch? {
        guard let ownConnection, reportsWrites else {
            try body()
            return nil
        }
        let watch = ownConnection.currentOrNewWatch()
        try ownConnection.watching(watch, body)
        return watch
    }

    /// Runs `body`, and returns true if it certainly didn't write to the table; false if it did, or if that
    /// is unknown.
    package func isKnownUnwritten(_ table: String, after body: SQLOperation) throws(SQLError) -> Bool {
        guard let watch = try runWatchingWrites(body) else { return false }
        return !watch.altersTables && !watch.writtenTables.contains(SQLName(table))
    }
}
