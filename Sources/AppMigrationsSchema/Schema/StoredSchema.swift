internal import AppMigrationsSQLite

/// The rows of a schema that SQLite does not compile, and whether they are what some SQLite has written.
struct StoredSchema {
    private let rows: [[SQLValue]]
    private let pageCount: SQLValue?

    /// Reads them from a connection that is allowed an unreadable schema.
    init(of db: SQLiteConnection) throws(SQLError) {
        rows = try db.query("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master")
        pageCount = try db.query("PRAGMA page_count").first?.first
    }

    /// Whether every row has a kind, a name, a statement that makes something, a page in the file where it has one,
    /// and its table.
    var isSound: Bool {
        guard case .integer(let pageCount) = pageCount else { return false }
        let names = Set(
            rows.compactMap { row in if case .text(let name) = row[1] { SQLName(name) } else { nil } }
        )
        return rows.allSatisfy { row in
            guard case .text(let type) = row[0], case .text(let name) = row[1], !name.isEmpty,
                case .text(let table) = row[2], case .integer(let page) = row[3],
                ["table", "index", "view", "trigger"].contains(type), names.contains(SQLName(table)),
                page == 0 || (2...max(2, pageCount)).contains(page)
            else { return false }
            if case .text(let sql) = row[4] { return sql.uppercased().hasPrefix("CREATE ") }
            return type == "index" && row[4] == .null
        }
    }
}
