package import AppMigrationsSQL

/// An SQLite database as the migrator sees it, through the connection of any library.
package struct SQLiteSession: SQLSession {
    package let db: SQLConversation

    /// The connection where it is this library's, which tells more than SQL does.
    let own: SQLiteConnection?

    package init(_ db: SQLConversation) {
        self.db = db
        own = db.connection(as: SQLiteConnection.self)
    }

    package func placeholder(_ number: Int) -> String { "?\(number)" }

    package func quoted(_ table: String) -> String { "main." + table.quoted(with: "\"") }

    // "The NOT INDEXED clause" ("The INDEXED BY Clause").
    package var withoutIndex: String { " NOT INDEXED" }

    package var integerType: String { "INTEGER" }

    package func columns(of table: String) throws(SQLError) -> SQLRows {
        try db.query("SELECT name, type FROM pragma_table_info(\(SQLValue.text(table)), 'main')")
    }

    package var tables: String { "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view')" }

    package var goesOnAfterErrors: Bool { true }

    package func values(of sql: String, _ body: (SQLValue) throws(SQLError) -> Void) throws(SQLError) {
        guard let statement = try own?.prepare(sql) else {
            for row in try db.query(sql) { for value in row { try body(value) } }
            return
        }
        while try statement.step() { try body(try statement.value(at: 0)) }
    }

    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(SQLError) -> Bool {
        let before = own?.changes
        try db.query(sql, arguments)
        guard let before, let after = own?.changes else { return false }
        return after.last == 1 && after.all == before.all &+ 1
    }

    package func dataVersion() throws(SQLError) -> Int64? {
        tellsOfWrites ? try number(of: "data_version") : nil
    }

    func number(of pragma: String) throws(SQLError) -> Int64 { try db.number("PRAGMA \(pragma)") }

    func set(_ pragma: String, to number: Int64) throws(SQLError) {
        try db.query("PRAGMA \(pragma) = \(number)")
    }

    /// The pragmas that say how surely a commit is kept when the power fails, and the least that each must be.
    ///
    /// A state file outside of the database is on the disk when it says that a migration is done. The commit has to be
    /// there before it: "WAL mode does lose durability. A transaction committed in WAL mode with synchronous=NORMAL
    /// might roll back following a power loss", and with a rollback journal only "EXTRA provides additional durability
    /// if the commit is followed closely by a power loss" (PRAGMA synchronous). On Apple's systems a sync reaches the
    /// disk itself with PRAGMA fullfsync only.
    private static let durability: [(pragma: String, least: Int64)] = [("synchronous", 3), ("fullfsync", 1)]

    /// Runs `body`, where it need not be durable itself in WAL mode with synchronous=NORMAL instead of OFF.
    ///
    /// With OFF a commit may copy the log into the database without a sync, and the next begin the log anew. The durable one
    /// syncs the log only.
    package func lasting(durably: Bool, _ body: SQLRules) throws(SQLError) {
        if durably { return try raising(Self.durability[...], body) }
        if try number(of: "synchronous") != 0 { return try body() }
        let isLogged = try db.query("PRAGMA main.journal_mode") == [["wal"]]
        try raising(isLogged ? [("synchronous", 1)] : [], body)
    }

    private func raising(
        _ pragmas: ArraySlice<(pragma: String, least: Int64)>,
        _ body: SQLRules
    ) throws(SQLError) {
        guard let (pragma, least) = pragmas.first else { return try body() }
        let before = try number(of: pragma)
        if before >= least { return try raising(pragmas.dropFirst(), body) }
        try setOutside(pragma, to: least)
        try db.undoing("setting the pragmas back") { () throws(SQLError) in
            try setOutside(pragma, to: before)
        } _: { () throws(SQLError) in
            try raising(pragmas.dropFirst(), body)
        }
    }

    /// SQLite refuses to change it inside a transaction.
    private func setOutside(_ pragma: String, to number: Int64) throws(SQLError) {
        do throws(SQLError) { try set(pragma, to: number) } catch {
            throw try isInTransaction() ? SQLError.inTransaction : error
        }
    }

    /// Runs `body` with foreign keys off, and turns them on again in every case.
    ///
    /// A migration may break them for a moment, and dropping a table with them on deletes the rows that refer to it.
    /// "This pragma is a no-op within a transaction" (PRAGMA foreign_keys), so they are turned off before it, and what
    /// the pragma says is asked afterwards.
    ///
    /// Where several works follow one another, each is compared with what the one before it left.
    package func withoutForeignKeys(
        _ body: (_ checking: @escaping SQLChecking) throws(SQLError) -> Void
    ) throws(SQLError) {
        guard try hasForeignKeys() else { return try body(unchecked) }
        try db.undoing("turning the foreign keys on again") { () throws(SQLError) in
            // A statement could be interrupted.
            if let own { own.turnForeignKeysOn() } else { try setForeignKeys(true) }
        } _: { () throws(SQLError) in
            try setForeignKeys(false)
            try body(ReferenceCheck(self).checking)
        }
    }

    /// True if references are enforced; a library that was built without them answers with no row.
    package func hasForeignKeys() throws(SQLError) -> Bool {
        try db.query("PRAGMA foreign_keys").first?.first?.number == 1
    }

    private func setForeignKeys(_ on: Bool) throws(SQLError) {
        try db.query("PRAGMA foreign_keys = \(on ? "ON" : "OFF")")
        if try hasForeignKeys() == on { return }
        throw SQLError(.alreadyInTransaction, "SQLite switches foreign keys outside of a transaction only")
    }

    /// True if the connection tells which tables a statement writes.
    var tellsOfWrites: Bool { own?.isBorrowed == false }

    /// Runs `body`, and tells the tables that it may have written; `nil` where the connection doesn't tell.
    func writes(of body: SQLRules) throws(SQLError) -> StatementWatch? {
        guard let own, tellsOfWrites else {
            try body()
            return nil
        }
        let watch = own.watch
        try own.watching(watch, body)
        return watch
    }

    package func leaves(_ table: String, _ body: SQLRules) throws(SQLError) -> Bool {
        try writes(of: body).map { !$0.areAltering && !$0.names.contains(SQLName(table)) } ?? false
    }
}

extension SQLDialect {
    /// The dialect of SQLite 3.
    public static var sqlite: SQLDialect { SQLDialect("sqlite") { SQLiteSession($0) } }
}
