import AppMigrationsSQLite
import Testing

/// Everything that a change of the schema must leave alone when it fails, and the settings.
func everything(in db: SQLiteConnection) throws -> [[SQLValue]] {
    var rows = try db.query("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    rows += try db.query("SELECT type, name, tbl_name, sql FROM sqlite_temp_master ORDER BY type, name")
    for table in try db.query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
    ) {
        guard case .text(let name) = table[0] else { continue }
        rows += try db.query("SELECT * FROM \"\(name)\"").map { [table[0]] + $0 }
    }
    rows += try db.query("PRAGMA foreign_keys") + db.query("PRAGMA legacy_alter_table")
    return rows
}

/// Expects that `body` throws and changes nothing, and gives the error.
func refused(_ db: SQLiteConnection, _ body: () throws -> Void) throws -> SQLError {
    let before = try everything(in: db)
    let error = try sqlError { try body() }
    let after = try everything(in: db)
    guard before == after else { throw Changed(before: before, after: after) }
    return error
}

struct Changed: Error {
    let before: [[SQLValue]]
    let after: [[SQLValue]]
}
