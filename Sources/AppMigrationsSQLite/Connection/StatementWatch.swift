internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

/// Records, for each statement that SQLite compiles, which tables it writes or reads, and whether it is
/// refused.
///
/// Writes by triggers are included. SQLite reports all this to the connection's authorizer, and a connection
/// has one. A borrowed connection keeps the authorizer of its owner: SQLite has no function that returns the
/// authorizer, so it couldn't be set again afterwards. GRDB, for one, does not work without its own.
final class StatementWatch {
    var refusals: ScriptRefusals?

    /// The tables that statements write, each of them once.
    private(set) var writtenTables = [SQLName]()

    /// True if a statement alters a table.
    private(set) var altersTables = false

    /// The columns that statements read; `nil` if they aren't recorded.
    var readColumns: [(table: SQLName, column: SQLName)]?

    /// Records one action of a statement, and returns false if it is refused.
    ///
    /// SQLite also calls for every column that is read. So strings are only created for actions that are
    /// recorded.
    func allows(
        action: Int32,
        first: UnsafePointer<CChar>?,
        second: UnsafePointer<CChar>?
    ) -> Bool {
        switch action {
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: recordWrite(to: first)
        case SQLITE_ALTER_TABLE: altersTables = true
        // SQLite also calls "if a column of a table is not referenced, with an empty column name", in
        // whichever subquery or view the table is.
        case SQLITE_READ: recordRead(of: second, in: first)
        // Other tables may refer to the index's table by way of the index.
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX: recordWrite(to: second)
        default: return refusals?.allows(action: action, first: first, second: second) ?? true
        }
        return true
    }

    /// Internal tables are left out: they refer to no table, and every CREATE writes to `sqlite_master`.
    private func recordWrite(to name: UnsafePointer<CChar>?) {
        guard let name, sqlite3_strnicmp(name, "sqlite_", 7) != 0 else { return }
        let table = SQLName(String(cString: name))
        if !writtenTables.contains(table) { writtenTables.append(table) }
    }

    private func recordRead(of column: UnsafePointer<CChar>?, in table: UnsafePointer<CChar>?) {
        guard readColumns != nil, let table, let column else { return }
        readColumns?.append((SQLName(String(cString: table)), SQLName(String(cString: column))))
    }
}

extension ScriptRefusals {
    /// Returns false for an action that a script in a transaction may not do.
    ///
    /// If no statement of the script is being compiled, the statement is SQLite's own, such as the savepoint
    /// of a full-text index, and everything is allowed.
    fileprivate func allows(
        action: Int32,
        first: UnsafePointer<CChar>?,
        second: UnsafePointer<CChar>?
    ) -> Bool {
        if !isCompiling { return true }
        func name() -> String { first.map { String(cString: $0) } ?? "" }
        switch action {
        case SQLITE_TRANSACTION: return allows(transaction: name())
        case SQLITE_SAVEPOINT:
            let operation = name()
            return allows(transaction: operation == "BEGIN" ? "SAVEPOINT" : operation)
        case SQLITE_ATTACH: return allows(transaction: "ATTACH")
        case SQLITE_DETACH: return allows(transaction: "DETACH")
        case SQLITE_PRAGMA: return allows(pragma: name(), hasValue: second != nil)
        case SQLITE_DROP_TABLE:
            droppedTable = name()
            return true
        default: return true
        }
    }
}
