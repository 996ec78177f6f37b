import AppMigrations
import CMeasure
import GRDB
import GRDBSQLite

enum PeerError: Error {
    case unknownKind(String)
    case pending
    case sqlite(Int32)
}

private func databasePath(_ folder: String) -> String { folder + "/peers.sqlite" }

private func declare(_ versions: [String], in folder: String, run: () throws -> Void) throws {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "1.\(versions.count)",
        firstRun: .everything,
        stateDirectory: folder
    )
    for version in versions { try migrations.whenMigrating(toVersion: version) { try run() } }
}

private func migrator(_ versions: [String]) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for version in versions { migrator.registerMigration(version) { _ in } }
    return migrator
}

private func versions(_ count: Int) -> [String] { (1...max(count, 1)).map { "1.\($0)" } }

/// A folder in which all versions have been applied, by us, by GRDB and as `user_version`.
func prepare(_ folder: String, count: Int) throws {
    let names = versions(count)
    try declare(names, in: folder) {}
    let queue = try DatabaseQueue(path: databasePath(folder))
    try migrator(names).migrate(queue)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(count)") }
    try queue.close()
}

/// The nanoseconds of one start in which nothing is pending.
func sample(_ kind: String, folder: String, count: Int) throws -> UInt64 {
    let names = versions(count)
    _ = measure_now()
    let began = measure_now()
    switch kind {
    case "ours": try declare(names, in: folder) { throw PeerError.pending }
    case "grdb": try migrator(names).migrate(DatabaseQueue(path: databasePath(folder)))
    case "user_version":
        if try userVersion(databasePath(folder)) < Int32(count) { throw PeerError.pending }
    default: throw PeerError.unknownKind(kind)
    }
    return measure_now() - began
}

private func userVersion(_ path: String) throws -> Int32 {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    var code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil)
    guard code == SQLITE_OK else { throw PeerError.sqlite(code) }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    code = sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, nil)
    guard code == SQLITE_OK else { throw PeerError.sqlite(code) }
    code = sqlite3_step(statement)
    guard code == SQLITE_ROW else { throw PeerError.sqlite(code) }
    return sqlite3_column_int(statement, 0)
}
