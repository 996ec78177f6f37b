import AppMigrations
import AppMigrationsSQLite

/// The version of a runner whose work is done in batches, each exactly once in the life of the database.
func runBatches(_ count: Int64, in db: SQLiteConnection, stateDirectory: String) throws {
    let manager = try MigrationManager(
        named: "Library",
        currentVersion: "1.0",
        firstRun: .everything,
        stateDirectory: stateDirectory
    )
    try manager.whenMigrating(toVersion: "1.0", in: db) { db, batch, _ in
        let number = try (batch.cursor(as: Int64.self) ?? 0) + 1
        say("begin \(number)")
        if number == 1 { try db.query("CREATE TABLE once(x)") }
        try db.query("INSERT INTO once VALUES (?)", [.integer(number)])
        return number == count ? .done : .continue(at: number, progress: Double(number) / Double(count))
    }
}

/// Checks that the batches up to the cursor ran, each once, and no others.
func checkBatches(_ count: Int64, in db: SQLiteConnection) throws {
    let hasRun = try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'once'") == [[1]]
    let log = hasRun ? try db.query("SELECT x FROM once ORDER BY x") : []
    if log != (0..<log.count).map({ [.integer(Int64($0 + 1))] }) { throw Half(version: .text("\(log)")) }
    let hasMark = try db.query("SELECT count(*) FROM sqlite_master WHERE name = 'app_migrations'") == [[1]]
    let mark = hasMark ? try db.query("SELECT cursor FROM app_migrations") : []
    let last = Int64(log.count)
    let expected: [[SQLValue]] = last == 0 ? [] : [[last == count ? .null : .text("\(last)")]]
    if mark != expected { throw Half(version: .text("\(log) and \(mark)")) }
    if try db.query("PRAGMA integrity_check") != [["ok"]] { throw Half(version: .text("integrity")) }
}
