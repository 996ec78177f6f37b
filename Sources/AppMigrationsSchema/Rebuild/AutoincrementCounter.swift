internal import AppMigrationsSQLite

/// The highest number that an `AUTOINCREMENT` column ever had ("SQLite Autoincrement").
///
/// Without it, the numbers of rows that were deleted would be given away again.
struct AutoincrementCounter {
    private let highest: Int64?

    init(of table: SQLName, in db: some SQLConnection) throws(SQLError) {
        guard try Self.isKept(in: db) else {
            highest = nil
            return
        }
        highest = try db.number(
            "SELECT max(seq) FROM main.sqlite_sequence WHERE name = ? COLLATE NOCASE",
            [.text(table.text)]
        )
    }

    func restore(for table: SQLName, in db: some SQLConnection) throws(SQLError) {
        guard let highest, try Self.isKept(in: db) else { return }
        let name = SQLValue.text(table.text)
        let now = try db.number("SELECT max(seq) FROM main.sqlite_sequence WHERE name = ?", [name])
        if let now, now >= highest { return }
        try db.rows("DELETE FROM main.sqlite_sequence WHERE name = ?", [name])
        try db.rows("INSERT INTO main.sqlite_sequence(name, seq) VALUES (?1, ?2)", [name, .integer(highest)])
    }

    private static func isKept(in db: some SQLConnection) throws(SQLError) -> Bool {
        try db.number("SELECT count(*) FROM main.sqlite_master WHERE name = 'sqlite_sequence'") != 0
    }
}
