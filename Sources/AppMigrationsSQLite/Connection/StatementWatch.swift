internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

/// Records, for each statement that SQLite compiles, which tables it writes or reads, and whether it is
/// refused.
///
/// Writes by triggers are included. SQLite reports this to the connection's authorizer, and a connection can
/// have only one. The authorizer of a borrowed connection isn't replaced: SQLite has no function that
/// returns the owner's authorizer, so it couldn't be restored. GRDB, for example, needs its own authorizer.
final class StatementWatch {
    var refusals: ScriptRefusals?

    /// The tables that statements write or create, or whose indexes they change, each of them once.
    private(set) var writtenTables = [SQLName]()

    /// True if a statement alters a table.
    private(set) var altersTables = false

    /// The columns that statements read; `nil` if they aren't recorded.
    var readColumns: [(table: SQLName, column: SQLName)]?

    /// Records one action of a statement, and returns false if it is refused.
    ///
    /// The meaning of the arguments depends on the action (https://sqlite.org/c3ref/c_alter_table.html).
    /// SQLite calls this for every column that a statement reads. Creating strings for each call would be
    /// slow, so they are created only for the actions that are recorded.
    func recordAndJudge(
        action: Int32,
        argument1: UnsafePointer<CChar>?,
        argument2: UnsafePointer<CChar>?
    ) -> Bool {
        switch action {
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: recordWrite(to: argument1)
        // Creating a table counts as a write, so that its foreign keys are checked: a new table may have a
        // foreign key that SQLite can't check, and other tables may refer to it.
        case SQLITE_CREATE_TABLE: recordWrite(to: argument1)
        case SQLITE_ALTER_TABLE: altersTables = true
        // If a statement references no column of a table, SQLite reports the table once, with an empty column
        // name. This also holds for tables in subqueries and views.
        case SQLITE_READ: recordRead(of: argument2, in: argument1)
        // A foreign key needs a unique index of its parent. So a change of an index counts as a write to the
        // index's table.
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX: recordWrite(to: argument2)
        default:
            // Some statements are SQLite's own, such as the savepoint of a full-text index. SQLite compiles
            // them while a statement of the script runs, not while one is compiled. So they are allowed.
            guard let refusals, refusals.isCompiling else { return true }
            refusals.check(action: action, argument1: argument1, argument2: argument2)
            return refusals.refusal == nil
        }
        return true
    }

    /// Records a write, except to SQLite's internal tables.
    ///
    /// They have no foreign keys, and every CREATE writes to one of them.
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
    /// Refuses an action that a script in a transaction may not do.
    fileprivate func check(
        action: Int32,
        argument1: UnsafePointer<CChar>?,
        argument2: UnsafePointer<CChar>?
    ) {
        func name() -> String { argument1.map { String(cString: $0) } ?? "" }
        switch action {
        case SQLITE_TRANSACTION: refuse(transactionStatement: name())
        case SQLITE_SAVEPOINT:
            let operation = name()
            refuse(transactionStatement: operation == "BEGIN" ? "SAVEPOINT" : operation)
        case SQLITE_ATTACH: refuseAttach()
        case SQLITE_DETACH: refuseDetach()
        case SQLITE_PRAGMA: check(pragma: name(), hasValue: argument2 != nil)
        case SQLITE_DROP_TABLE: droppedTable = name()
        default: break
        }
    }
}
