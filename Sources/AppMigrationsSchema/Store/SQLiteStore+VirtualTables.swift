public import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteStore {
    /// A virtual table, such as a full-text index or an R-tree, that has a problem or can't be checked.
    ///
    /// Such a problem doesn't count as damage, and no store is refused or set aside because of it: the
    /// ordinary tables are intact. The index may lack rows that were written without its trigger, may have no
    /// content of its own, or may need a tokenizer of the app. If the content of an index is in another
    /// table, the index can be rebuilt, for FTS with `INSERT INTO notes(notes) VALUES('rebuild')`.
    ///
    /// SQLite checks virtual tables since version 3.44. With earlier versions, no such problem is found.
    public struct VirtualTableProblem: Sendable, CustomStringConvertible {
        /// The name of the virtual table.
        public let table: String

        /// The messages of the table's module, word for word; empty if the table could not be checked.
        public let complaints: [String]

        /// SQLite's error if the table could not be checked; `nil` if it was checked.
        public let error: SQLError?

        /// The table with the messages or the error, for a log.
        public var description: String {
            if let error { return "The virtual table \(table) could not be checked: \(error.message)" }
            return "The virtual table \(table): \(complaints.joined(separator: "; "))"
        }
    }
}

extension SQLiteStore.VirtualTableProblem {
    /// Checks each of the virtual tables by itself.
    static func problems(
        foundBy check: SQLiteStore.Check,
        in virtualTables: [SchemaObject],
        of db: SQLiteConnection
    ) throws(SQLError) -> [Self] {
        guard let pragma = check.pragma else { return [] }
        var problems = [Self]()
        for table in virtualTables {
            do throws(SQLError) {
                let complaints = try db.texts("PRAGMA main.\(pragma)(\(table.name.quoted))").filter {
                    $0 != "ok"
                }
                if complaints.isEmpty { continue }
                problems.append(Self(table: table.name.text, complaints: complaints, error: nil))
            } catch {
                if error.code == .cancelled { throw error }
                problems.append(Self(table: table.name.text, complaints: [], error: error))
            }
        }
        return problems
    }
}

extension SQLiteStore.Check {
    /// The pragma that runs the check; `nil` for `off`.
    var pragma: String? {
        switch self {
        case .off: nil
        case .quick: "quick_check"
        case .full: "integrity_check"
        }
    }
}

extension SQLiteConnection {
    /// Removes the modules of virtual tables from this connection, so that a check skips these tables.
    ///
    /// From version 3.44 on, SQLite's checks of a whole database call the modules of its virtual tables. A
    /// module can report a problem of a correct index, and a missing tokenizer aborts the whole check. If the
    /// module is missing, the check skips the virtual table, but checks its shadow tables and everything else
    /// in the file.
    ///
    /// "If the third parameter is NULL then no new module is created and any existing modules with the same
    /// name are dropped" (sqlite3_create_module). Call this before any statement uses the tables on this
    /// connection.
    func removeModules(of virtualTables: [SchemaObject]) {
        unlessClosed {
            for module in Set(virtualTables.compactMap(\.module)) {
                sqlite3_create_module_v2(handle, module.text, nil, nil, nil)
            }
        }
    }
}
