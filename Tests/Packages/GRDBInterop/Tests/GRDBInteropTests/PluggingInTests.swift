import AppMigrations
import Foundation
import GRDB
import Testing

/// The file of the page *Another migrator*, in each of the situations that its table names.
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

    private func colors(_ queue: some DatabaseReader) throws -> [String?] {
        try queue.read { try String?.fetchAll($0, sql: "SELECT color FROM note ORDER BY id") }
    }

    private var gate: MigrationGate { notesGate(in: folder, appVersion: "1.4") { _ in } }

    private func open() async throws -> DatabasePool {
        try await gate.ready()
        return try openPool(in: folder)
    }

    /// The colors that an extension reads; `nil` if the app has to be opened first.
    private func colorsInExtension() throws -> [String?]? {
        try readInExtension(in: folder, appVersion: "1.4") {
            try String?.fetchAll($0, sql: "SELECT color FROM note ORDER BY id")
        }
    }

    private func remove(_ names: String...) throws {
        for name in names where FileManager.default.fileExists(atPath: path(name)) {
            try FileManager.default.removeItem(atPath: path(name))
        }
    }

    /// The database as the releases up to 1.3 left it.
    private func shipDatabase() throws {
        let queue = try DatabaseQueue(path: path("notes.sqlite"))
        try notesMigrator().migrate(queue, upTo: "notes")
        try queue.write { try $0.execute(sql: "INSERT INTO note (title) VALUES ('one'), ('two')") }
        try queue.close()
    }

    @Test func `a new install runs no closure, and has all tables`() async throws {
        let pool = try await open()
        let synchronous = try await pool.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(synchronous == 2)
        #expect(try colors(pool) == [])
        #expect(hasThumbnails)
    }

    @Test func `an update from a release without this library runs each step once`() async throws {
        try shipDatabase()
        for _ in 1...2 {
            let pool = try await open()
            #expect(try colors(pool) == ["yellow", "yellow"])
            #expect(!hasThumbnails)
            try pool.close()
        }
    }

    @Test func `a backup of the database is migrated again with its rows, and the closures don't run`()
        async throws
    {
        try shipDatabase()
        try await open().close()
        try remove("notes.sqlite", "notes.sqlite-wal", "notes.sqlite-shm")
        try shipDatabase()
        try FileManager.default.createDirectory(
            atPath: path("thumbnails"),
            withIntermediateDirectories: false
        )
        let pool = try await open()
        #expect(try colors(pool) == ["yellow", "yellow"])
        #expect(hasThumbnails)
    }

    @Test func `rows that an older release writes after the update are converted at the next start`()
        async throws
    {
        try shipDatabase()
        try await open().close()
        let older = try DatabaseQueue(path: path("notes.sqlite"))
        try await older.write { try $0.execute(sql: "INSERT INTO note (title) VALUES ('three')") }
        try older.close()
        #expect(try await colors(open()) == ["yellow", "yellow", "yellow"])
    }

    @Test func `a backup of the whole folder runs the closures, too`() async throws {
        try shipDatabase()
        let old = try Data(contentsOf: URL(filePath: path("notes.sqlite")))
        try await open().close()
        try remove("notes.sqlite", "notes.sqlite-wal", "notes.sqlite-shm", "migrations")
        try old.write(to: URL(filePath: path("notes.sqlite")))
        #expect(try await colors(open()) == ["yellow", "yellow"])
    }

    /// Eight processes, each with a manager and a pool of its own.
    @Test func `eight starts at the same moment end with the same tables`() async throws {
        for _ in 1...5 {
            try await withThrowingTaskGroup { group in
                for _ in 1...8 {
                    group.addTask { try await open().close() }
                }
                try await group.waitForAll()
            }
            #expect(try await colors(open()) == [])
            try remove("notes.sqlite", "notes.sqlite-wal", "notes.sqlite-shm", "migrations")
        }
    }

    @Test func `after a reset by hand, the closures run on a database that was restored alone`() async throws
    {
        try shipDatabase()
        try await open().close()
        try remove("notes.sqlite", "notes.sqlite-wal", "notes.sqlite-shm")
        try shipDatabase()
        try FileManager.default.createDirectory(
            atPath: path("thumbnails"),
            withIntermediateDirectories: false
        )
        try resetAfterRestore(in: folder, to: "1.3", appVersion: "1.4")
        #expect(try await colors(open()) == ["yellow", "yellow"])
        #expect(!hasThumbnails)
    }

    @Test func `a database that a newer release has migrated is refused, and stays as it is`() async throws {
        let pool = try await open()
        try await pool.write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('of a newer release')")
        }
        try pool.close()
        await #expect(throws: NewerNotes.self) { try await open() }
        #expect(throws: NewerNotes.self) { try colorsInExtension() }
        #expect(advice(after: NewerNotes()) == "Update the app.")
    }

    @Test func `an extension reads only what the app has migrated`() async throws {
        #expect(try colorsInExtension() == nil)
        try shipDatabase()
        #expect(try colorsInExtension() == nil)
        try await open().close()
        #expect(try colorsInExtension() == ["yellow", "yellow"])
        // An older release writes.
        let older = try DatabaseQueue(path: path("notes.sqlite"))
        try await older.write { try $0.execute(sql: "INSERT INTO note (title) VALUES ('three')") }
        try older.close()
        #expect(try colorsInExtension() == nil)
        // The database alone is restored: first with old tables, then not at all.
        for restore in [{ try shipDatabase() }, {}] {
            try remove("notes.sqlite", "notes.sqlite-wal", "notes.sqlite-shm")
            try restore()
            #expect(try colorsInExtension() == nil)
        }
        #expect(!FileManager.default.fileExists(atPath: path("notes.sqlite")))
    }

    @Test(arguments: [true, false])
    func `a log without its database is kept, also by an extension`(isEmptied: Bool) async throws {
        try await open().close()
        try remove("notes.sqlite")
        if isEmptied { try Data().write(to: URL(filePath: path("notes.sqlite"))) }
        let log = Data(repeating: 1, count: 100)
        try log.write(to: URL(filePath: path("notes.sqlite-wal")))
        for _ in 1...2 {
            await #expect(throws: LostNotes.self) { try await open() }
            if isEmptied {
                #expect(throws: LostNotes.self) { try colorsInExtension() }
            } else {
                #expect(try colorsInExtension() == nil)
            }
            #expect(try Data(contentsOf: URL(filePath: path("notes.sqlite-wal"))) == log)
        }
    }

    @Test func `a log without a page keeps nobody out`() async throws {
        try Data(repeating: 1, count: 32).write(to: URL(filePath: path("notes.sqlite-wal")))
        #expect(try await colors(open()) == [])
        #expect(advice(after: LostNotes()) == "Restore a backup.")
    }

    @Test func `an extension leaves alone what a newer release excludes it from`() async throws {
        try await open().close()
        try notesManager(in: folder, appVersion: "1.5")
            .whenMigrating(toVersion: "1.5", minimumAppVersion: "1.5") {}
        #expect(throws: NewerNotes.self) { try colorsInExtension() }
    }

    @Test func `the bar shows GRDB's migrations before the closures`() async throws {
        try shipDatabase()
        nonisolated(unsafe) var shown: [Double] = []
        nonisolated(unsafe) weak var weakGate: MigrationGate?
        let gate = notesGate(in: folder, appVersion: "1.4") { _ in
            if case .migrating(let fraction, _) = weakGate?.state { shown.append(fraction) }
        }
        weakGate = gate
        try await gate.ready()
        // The closure's events come after the tables, which are half of the work.
        #expect(shown.first == 0.5)
    }

    @Test func `no bar appears if nothing is pending`() async throws {
        try await open().close()
        var states: [String] = []
        for await state in gate.states { states.append("\(state)") }
        #expect(!states.contains { $0.hasPrefix("migrating") })
    }

    @Test func `a full disk and a damaged database have advice, also in a closure`() throws {
        let manager = try notesManager(in: folder, appVersion: "1.4")
        for (code, text) in [
            (ResultCode.SQLITE_FULL, "space"), (.SQLITE_CORRUPT, "damaged"), (.SQLITE_IOERR, "space"),
            (.SQLITE_BUSY, "details"),
        ] {
            let error = DatabaseError(resultCode: code)
            #expect(advice(after: error).contains(text))
            let wrapped = #expect(throws: MigrationError.self) {
                try manager.reset(to: "1.0")
                try manager.whenMigrating(toVersion: "1.4") { throw error }
            }
            #expect(try advice(after: #require(wrapped)).contains(text))
        }
    }

    /// GRDB compares the present names only, so a renamed or a merged migration looks like one of a newer release.
    @Test(arguments: [["1.4", "1.5", "1.6"], ["1.4", "1.6"], ["1.5", "1.6"], ["1.6"]])
    func `names that a release has renamed or merged lock out nobody who skips releases`(releases: [String])
        throws
    {
        func migrator(_ names: [String]) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            for name in names {
                migrator.registerMigration(name, merging: name == "merged" ? ["b", "c"] : []) { db, done in
                    if name == "merged", !done.isEmpty { return }
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(name)(x)")
                }
            }
            return migrator
        }
        let names = [
            "1.4": ["a", "b", "c"], "1.5": ["renamed", "merged"], "1.6": ["renamed", "merged", "d"],
        ]
        let former: Set<String> = ["a", "b", "c"]
        let queue = try DatabaseQueue()
        for release in releases {
            let migrator = try migrator(#require(names[release]))
            let applied = try queue.read(migrator.appliedIdentifiers)
            #expect(applied.isSubset(of: former.union(migrator.migrations)), "\(release) refuses \(applied)")
            try migrator.migrate(queue)
        }
        // A release that is older is still refused.
        let old = migrator(["a", "b", "c"])
        let applied = try queue.read(old.appliedIdentifiers)
        #expect(!applied.isSubset(of: Set(old.migrations)))
    }
}
