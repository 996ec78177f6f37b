import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite struct MigratedCopy {
    func replacing(
        _ path: String,
        _ sqlMigrator: SQLiteMigrator,
        whenAsked: @escaping () throws -> Void = {}
    ) throws -> Bool {
        let migrator = AskedMigrator(migrator: sqlMigrator, whenAsked: whenAsked)
        // Sample 1 of TheDatabaseFile.md
    }

    func planning(_ store: SQLiteStore, _ schema: String, release: Int64 = 1) throws -> Bool {
        // Sample 1 of SQLiteStore.md
    }

    // Sample 2 of SQLiteStore.md

    @Test func `a lost store comes back from the backup, and a copied one stays`() async throws {
        try await withStore { path in
            try FileManager.default.moveItem(atPath: path, toPath: path + "_bak")
            try Data().write(to: URL(filePath: path))
            try recoverNotes(at: path, wasCopied: true)
            let db = try SQLiteConnection(path: path)
            #expect(try db.query("SELECT count(*) FROM note") != [[0]])
            db.close()
            try FileManager.default.copyItem(atPath: path, toPath: path + "_bak")
            try recoverNotes(at: path, wasCopied: true)
            #expect(!FileManager.default.fileExists(atPath: path + "_bak"))
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    func showing(
        _ store: SQLiteStore,
        _ migrator: SQLiteMigrator,
        _ isCancelled: @escaping () -> Bool,
        _ show: @escaping (Double) -> Void
    ) throws {
        // Sample 1 of SQLiteStoreProgress.md
    }

    struct NewerStore: Error {}
    struct Unanswered: Error { let questions: [SchemaPlan.Question] }

    /// Something can happen after it was asked what is pending.
    struct AskedMigrator {
        let migrator: SQLiteMigrator
        let whenAsked: () throws -> Void

        func status(_ db: SQLiteConnection) throws -> SQLMigrationStatus {
            let status = try migrator.status(db)
            try whenAsked()
            return status
        }

        func migrate(_ db: SQLiteConnection) throws -> SQLMigrationReport { try migrator.migrate(db) }
    }

    private nonisolated static let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size)"
    private let migrator: SQLiteMigrator

    init() throws {
        migrator = try SQLiteMigrator([SQLMigration(version: 1, sql: "ALTER TABLE note ADD COLUMN size")])
    }

    private func withStore(_ body: (String) throws -> Void) async throws {
        try await withFolder { folder async throws in
            let path = folder + "/store"
            try makeStore(path)
            try body(path)
        }
    }

    private func rows(_ path: String) throws -> [[SQLValue]] {
        try SQLiteConnection(path: path).query("SELECT * FROM note")
    }

    @Test func `of two that find the same migrations pending one replaces the store, and its backup stays`()
        async throws
    {
        try await withStore { path in
            let isReplaced = try replacing(path, migrator) { () throws in
                #expect(try replacing(path, migrator))
            }
            #expect(!isReplaced)
            #expect(try rows(path) == [[1, "one", nil]])
            #expect(try rows(path + ".bak") == [[1, "one"]])
            #expect(try !replacing(path, migrator))
        }
    }

    @Test func `a plan makes, changes or leaves a store, and leaves what it can't decide`() async throws {
        try await withFolder { folder async throws in
            let store = SQLiteStore(path: folder + "/store")
            let schema = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)"
            #expect(try planning(store, schema))
            #expect(try !planning(store, schema))
            try SQLiteConnection(path: store.path).query("INSERT INTO note VALUES (1, 'one')")
            #expect(try planning(store, Self.schema))
            #expect(try rows(store.path) == [[1, "one", nil]])
            #expect(throws: Unanswered.self) { try planning(store, schema) }
        }
    }

    @Test(arguments: [
        schema, schema + "; CREATE INDEX by_size ON note(size)",
        "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, size, pinned)",
    ])
    func `an older app leaves the store of a newer one`(newer: String) async throws {
        try await withFolder { folder async throws in
            let store = SQLiteStore(path: folder + "/store")
            #expect(try planning(store, newer, release: 2))
            let before = try Data(contentsOf: URL(filePath: store.path))
            #expect(throws: NewerStore.self) { try planning(store, Self.schema, release: 1) }
            #expect(try Data(contentsOf: URL(filePath: store.path)) == before)
        }
    }
}
