import AppMigrations
import Foundation
import GRDB
import Testing

/// The file of the page *Plugging in another migrator*, in each of the situations that its table names.
@Suite struct PluggingInTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "plugging-in-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "thumbnails"),
            withIntermediateDirectories: true
        )
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    private var hasThumbnails: Bool { FileManager.default.fileExists(atPath: path("thumbnails")) }

    private func colors(_ queue: DatabaseQueue) throws -> [String?] {
        try queue.read { try String?.fetchAll($0, sql: "SELECT color FROM note ORDER BY id") }
    }

    /// The database as the releases up to 1.3 left it.
    private func shipDatabase() throws {
        let queue = try DatabaseQueue(path: path("notes.sqlite"))
        try notesMigrator().migrate(queue, upTo: "notes")
        try queue.write { try $0.execute(sql: "INSERT INTO note (title) VALUES ('one'), ('two')") }
        try queue.close()
    }

    @Test func `a new install runs no closure, and has all tables`() throws {
        let queue = try openNotes(in: folder, appVersion: "1.4")
        #expect(try colors(queue) == [])
        #expect(hasThumbnails)
    }

    @Test func `an update from a release without this library runs each step once`() throws {
        try shipDatabase()
        for _ in 1...2 {
            let queue = try openNotes(in: folder, appVersion: "1.4")
            #expect(try colors(queue) == ["yellow", "yellow"])
            #expect(!hasThumbnails)
            try queue.close()
        }
    }

    @Test func `a backup of the database is migrated again, and the closures don't run`() throws {
        try shipDatabase()
        try openNotes(in: folder, appVersion: "1.4").close()
        try FileManager.default.removeItem(atPath: path("notes.sqlite"))
        try shipDatabase()
        try FileManager.default.createDirectory(
            atPath: path("thumbnails"),
            withIntermediateDirectories: false
        )
        let queue = try openNotes(in: folder, appVersion: "1.4")
        #expect(try colors(queue) == [nil, nil])
        #expect(hasThumbnails)
    }

    @Test func `a backup of the whole folder runs the closures, too`() throws {
        try shipDatabase()
        let old = try Data(contentsOf: URL(filePath: path("notes.sqlite")))
        try openNotes(in: folder, appVersion: "1.4").close()
        for name in ["notes.sqlite", "migrations"] { try FileManager.default.removeItem(atPath: path(name)) }
        try old.write(to: URL(filePath: path("notes.sqlite")))
        #expect(try colors(openNotes(in: folder, appVersion: "1.4")) == ["yellow", "yellow"])
    }

    /// Eight processes, each with a manager and a queue of its own.
    @Test func `eight starts at the same moment end with the same tables`() async throws {
        for _ in 1...5 {
            try await withThrowingTaskGroup { group in
                for _ in 1...8 {
                    group.addTask { try openNotes(in: folder, appVersion: "1.4").close() }
                }
                try await group.waitForAll()
            }
            #expect(try colors(openNotes(in: folder, appVersion: "1.4")) == [])
            for name in ["notes.sqlite", "migrations"] {
                try FileManager.default.removeItem(atPath: path(name))
            }
        }
    }

    /// The start of the page with its second sample, and a closure that can run again.
    private func openNotesOrReset() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path("notes.sqlite"))
        let isNew = try queue.read { try !$0.tableExists("note") }
        let migrations = try MigrationManager(
            named: "Notes",
            currentVersion: "1.4",
            firstRun: isNew ? .freshInstall : .existingData(at: "1.3"),
            stateDirectory: path("migrations")
        )
        try resetIfRestored(migrations, queue)
        try migrations.withLock { try notesMigrator().migrate(queue) }
        try migrations.whenMigrating(toVersion: "1.4") {
            try queue.write { try $0.execute(sql: "UPDATE note SET color = 'yellow' WHERE color IS NULL") }
        }
        try saveVersion(of: migrations, in: queue)
        return queue
    }

    @Test func `a database that is older than the state runs the closures again`() throws {
        try shipDatabase()
        for _ in 1...2 {
            let queue = try openNotesOrReset()
            #expect(try colors(queue) == ["yellow", "yellow"])
            try queue.close()
        }
        // Last year's backup, of a release without this library.
        try FileManager.default.removeItem(atPath: path("notes.sqlite"))
        try shipDatabase()
        let restored = try openNotesOrReset()
        #expect(try colors(restored) == ["yellow", "yellow"])
        // A backup with the table.
        try restored.write { db in
            try db.execute(sql: "UPDATE data_version SET version = '1.3'; UPDATE note SET color = NULL")
        }
        try restored.close()
        #expect(try colors(openNotesOrReset()) == ["yellow", "yellow"])
    }

    @Test func `a new install with that code runs no closure`() throws {
        for _ in 1...2 { #expect(try colors(openNotesOrReset()) == []) }
    }

    @Test func `a database that a newer release has migrated is refused, and stays as it is`() throws {
        let queue = try openNotes(in: folder, appVersion: "1.4")
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a newer release')") }
        try queue.close()
        #expect(throws: NewerNotes.self) { try openNotes(in: folder, appVersion: "1.4") }
    }
}
