public import AppMigrationsSQLite
internal import CAppMigrationsSQLite

extension SQLiteStore {
    /// A virtual table that a check complains about or can't check, such as a full-text index or an R-tree.
    ///
    /// It is no damage of the store, and nothing is refused or set aside because of it: the rows of ordinary
    /// tables are whole. The index may lack rows that were written without its trigger, may have no content
    /// of its own, or may need a tokenizer of the app. An index whose content is in another table can be
    /// built again, which for FTS is `INSERT INTO notes(notes) VALUES('rebuild')`.
    ///
    /// SQLite checks virtual tables from version 3.44 on. Earlier versions find no such problem.
    public struct VirtualTableProblem: Sendable, CustomStringConvertible {
        /// The name of the virtual table.
        public let table: String

        /// The complaints of the table's module, in its own words; empty if the table could not be checked.
        public let complaints: [String]

        /// SQLite's error if the table could not be checked; `nil` if it was checked.
        public let error: SQLError?

        /// The table with the complaints or the error, for a log.
        public var description: String {
            if let error { return "The virtual table \(table) could not be checked: \(error.message)" }
            return "The virtual table \(table): \(complaints.joined(separator: "; "))"
        }
    }
}

extension SQLiteStore.VirtualTableProblem {
    /// Checks each of the virtual tables by itself.
    static func found(
        by check: SQLiteStore.Check,
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
    /// The pragma that makes the check; `nil` for none.
    var pragma: String? {
        switch self {
        case .off: nil
        case .quick: "quick_check"
        case .full: "integrity_check"
        }
    }
}

extension SQLiteConnection {
    /// Removes the modules of virtual tables from this connection, so that a check passes over these tables.
    ///
    /// From version 3.44 on, SQLite's checks of a whole database call the modules of its virtual tables. A
    /// module can complain of an index that is as it should be, and a tokenizer that is missing ends the
    /// whole check. A table without a module is left out, while everything else in the file is checked, its
    /// shadow tables too.
    ///
    /// "If the third parameter is NULL then no new module is created and any existing modules with the same
    /// name are dropped" (sqlite3_create_module). Nothing may have used the tables on this connection before.
    func removeModules(of virtualTables: [SchemaObject]) {
        unlessClosed {
            for module in Set(virtualTables.compactMap(\.module)) {
                sqlite3_create_module_v2(handle, module.text, nil, nil, nil)
            }
        }
    }
}
