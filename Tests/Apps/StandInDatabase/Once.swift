import AppMigrations
import AppMigrationsSQLite

/// Runs a closure for each version from 1.1 on, exactly once in the life of the database.
func runOnce(_ count: Int64, in db: SQLiteConnection, stateDirectory: String) throws {
    let manager = try MigrationManager(
        named: "Library",
        currentVersion: "1.\(count)",
        firstRun: .everything,
        stateDirectory: stateDirectory
    )
    for number in 1...count {
        try manager.whenMigrating(toVersion: "1.\(number)", in: db) { db, _ in
            say("begin \(number)")
            if number == 1 { try db.query("CREATE TABLE once(x)") }
            try db.query("INSERT INTO once VALUES (?)", [.integer(number)])
        }
        say("ready \(number)")
    }
}

/// Checks that the migrations that the database records ran, each once, and no others.
func checkOnce(in db: SQLiteConnection) throws {
    let hasRun = try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'once'") == [[1]]
    let log = hasRun ? try db.query("SELECT '1.' || x FROM once ORDER BY x") : []
    let hasMarks = try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'app_migrations'") == [[1]]
    let marks = hasMarks ? try db.query("SELECT version FROM app_migrations ORDER BY version") : []
    if log != marks { throw Half(version: .text("\(log) and \(marks)")) }
    if try db.query("PRAGMA integrity_check") != [["ok"]] { throw Half(version: .text("integrity")) }
}
