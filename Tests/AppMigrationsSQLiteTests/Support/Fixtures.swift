import Foundation
import Testing

@testable import AppMigrationsSQL
@testable import AppMigrationsSQLite

/// A folder that is gone afterwards.
func withTemporaryDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
    let folder = try makeTemporaryDirectory()
    defer { remove(folder) }
    return try body(folder.path(percentEncoded: false))
}

func withTemporaryDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = try makeTemporaryDirectory()
    defer { remove(folder) }
    return try await body(folder.path(percentEncoded: false))
}

private func makeTemporaryDirectory() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sql-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}

private func remove(_ folder: URL) {
    #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) }
}

func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
}

func memory(foreignKeys: Bool = false) throws -> SQLiteConnection {
    let db = try SQLiteConnection(path: ":memory:")
    if foreignKeys { try db.query("PRAGMA foreign_keys = ON") }
    return db
}

typealias Migration = SQLMigration<SQLiteConnection>
typealias Migrator = SQLMigrator<SQLiteConnection>

/// The error that `body` throws.
func sqlError<Value>(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Value) throws
    -> SQLError
{
    try #require(throws: SQLError.self, sourceLocation: location) { _ = try body() }
}

/// The names of the tables that migrations made.
func tables(in db: SQLiteConnection) throws -> [String] {
    try db.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").compactMap {
        if case .text(let name) = $0[0], name != "schema_migrations" { name } else { nil }
    }
}

/// The versions in the ledger.
func ledger(of db: SQLiteConnection) throws -> [Int64] {
    try db.query("SELECT version FROM schema_migrations ORDER BY version").compactMap {
        if case .integer(let version) = $0[0] { version } else { nil }
    }
}

extension SQLiteConnection {
    /// The same connection, as another library would lend it.
    var borrowed: SQLiteConnection { SQLiteConnection(borrowing: handle) }
}
