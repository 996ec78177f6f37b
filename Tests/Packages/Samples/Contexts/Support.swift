import AppMigrations
import AppMigrationsSQLite
import Foundation
import Synchronization

/// The calls that the samples made of their app; one of them can fail.
nonisolated final class Calls: Sendable {
    struct Failure: Error {}

    private let state = Mutex((names: [String](), failing: String?.none))

    func add(_ name: String) { state.withLock { $0.names.append(name) } }

    /// The function that calls this is called by a sample.
    func note(_ function: String = #function) throws {
        let name = String(function.prefix { $0 != "(" })
        add(name)
        if state.withLock({ $0.failing == name }) { throw Failure() }
    }

    /// The call of this name fails from now on.
    func fail(at name: String?) { state.withLock { $0.failing = name } }

    /// The calls since this was asked last.
    func take() -> [String] {
        state.withLock { state in
            defer { state.names = [] }
            return state.names
        }
    }
}

/// Gives `body` the path of a new folder, and removes the folder afterwards.
func withFolder(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "samples-\(UUID().uuidString)")
    // Nobody else writes to it, whatever the umask says: migrations protect no files where others write.
    try FileManager.default.createDirectory(
        at: url,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
    )
    defer {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("The folder \(url) stays: \(error)")
        }
    }
    try await body(url.path(percentEncoded: false))
}

nonisolated func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
}

nonisolated func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

nonisolated func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

/// The start of a release on data that nothing has migrated yet.
nonisolated func manager(_ version: String, in folder: String) throws -> MigrationManager {
    try MigrationManager(currentVersion: version, firstRun: .everything, stateDirectory: folder)
}

/// A connection to SQLite that is awaited.
nonisolated final class AwaitedConnection: AsyncSQLConnection, @unchecked Sendable {
    static var dialect: SQLDialect { .sqlite }

    let db: SQLiteConnection

    init(_ db: SQLiteConnection) { self.db = db }

    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try db.query(sql, arguments)
    }
}

/// A database in memory.
nonisolated func database(_ script: String) throws -> SQLiteConnection {
    let db = try SQLiteConnection(path: ":memory:")
    try db.execute(script: script)
    return db
}

/// A database with a note.
nonisolated func makeStore(_ path: String) throws {
    let db = try SQLiteConnection(path: path)
    try db.query("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
    try db.query("INSERT INTO note VALUES (1, 'one')")
}
