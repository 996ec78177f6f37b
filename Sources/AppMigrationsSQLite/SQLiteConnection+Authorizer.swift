internal import CAppMigrationsSQLite

extension SQLiteConnection {
    /// What a script in a transaction may not do, as SQLite itself understands its statements.
    ///
    /// "The authorizer callback is invoked as SQL statements are being compiled" (sqlite3_set_authorizer).
    /// A search for keywords would have holes: a byte order mark before COMMIT is one.
    final class Authorizer {
        /// Why a statement was refused.
        private(set) var refusal: String?
        private var droppedTable: String?

        func takeDroppedTable() -> String? {
            defer { droppedTable = nil }
            return droppedTable
        }

        func decide(_ action: Int32, _ first: String?, _ second: String?) -> Int32 {
            switch action {
            case SQLITE_TRANSACTION: refusal = refused(first ?? "BEGIN or COMMIT")
            case SQLITE_SAVEPOINT: refusal = refused(first == "BEGIN" ? "SAVEPOINT" : first ?? "SAVEPOINT")
            case SQLITE_ATTACH: refusal = refused("ATTACH")
            case SQLITE_DETACH: refusal = refused("DETACH")
            case SQLITE_PRAGMA:
                guard let first, second != nil, !Self.reading.contains(first.lowercased()) else {
                    return SQLITE_OK
                }
                refusal =
                    "A script in a transaction may not set PRAGMA \(first): SQLite ignores most of them there."
                    + " Set it on the connection before the migrator runs"
            case SQLITE_DROP_TABLE:
                droppedTable = first
                return SQLITE_OK
            default:
                return SQLITE_OK
            }
            return SQLITE_DENY
        }

        private func refused(_ statement: String) -> String {
            "A script in a transaction may not \(statement): its transaction is begun and ended for it."
                + " Remove the statement"
        }

        /// The pragmas whose argument says what to read.
        private static let reading: Set<String> = [
            "table_info", "table_xinfo", "table_list", "index_info", "index_xinfo", "index_list",
            "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
        ]
    }

    func withAuthorizer(_ body: (Authorizer) throws(SQLError) -> Void) throws(SQLError) {
        let authorizer = Authorizer()
        sqlite3_set_authorizer(
            handle,
            { authorizer, action, first, second, _, _ in
                guard let authorizer else { return SQLITE_DENY }
                return Unmanaged<Authorizer>.fromOpaque(authorizer).takeUnretainedValue().decide(
                    action,
                    first.map { String(cString: $0) },
                    second.map { String(cString: $0) }
                )
            },
            Unmanaged.passUnretained(authorizer).toOpaque()
        )
        defer {
            sqlite3_set_authorizer(handle, nil, nil)
            withExtendedLifetime(authorizer) {}
        }
        try body(authorizer)
    }

    /// Why a table must not be dropped while foreign keys are on: "If foreign key constraints are enabled
    /// when DROP TABLE is invoked, an implicit DELETE FROM is performed first" (SQLite Foreign Key Support,
    /// section 5).
    func refusal(ofDropping table: String) throws(SQLError) -> String? {
        guard try query("PRAGMA foreign_keys") == [[1]] else { return nil }
        let children = try query(
            """
            SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS key
            WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
            AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
            """,
            [.text(table)]
        )
        guard case .text(let child) = children.first?.first else { return nil }
        return
            "DROP TABLE \(table) would delete or change the rows of \(child) that refer to it, since foreign keys"
            + " are on. Turn them off before the transaction, as a migrator does outside of one"
    }
}
