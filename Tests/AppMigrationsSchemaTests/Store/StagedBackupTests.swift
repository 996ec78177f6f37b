import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// The backup of a staged migration, and an earlier one whose name it takes.
@Suite(.temporaryDirectory) struct StagedBackupTests {
    let folder = TemporaryDirectory.current.path

    private static func body(of path: String) throws -> SQLValue {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        return try db.query("SELECT body FROM note WHERE id = 1")[0][0]
    }

    private static func stage(_ store: SQLiteStore, _ body: String) throws {
        try store.migrateStaged(backupExtension: "bak", lockTimeout: .inVain) {
            try $0.query("UPDATE note SET body = ? WHERE id = 1", [.text(body)])
        }
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `what another connection writes to an earlier backup is not played into the new one`(
        journal: String
    ) throws {
        let store = try Wreck.store(journal: journal)
        try Self.stage(store, "two")
        let viewer = try SQLiteConnection(path: store.path + ".bak")
        try viewer.query("UPDATE note SET body = 'seen' WHERE id = 1")
        try Self.stage(store, "three")
        #expect(try Self.body(of: store.path + ".bak") == "two")
        viewer.close()
        #expect(try Self.body(of: store.path + ".bak") == "two")
        #expect(try Self.body(of: store.path) == "three")
    }

    @Test(arguments: StoreFiles.sidecarEndings)
    func `what a dead process left beside an earlier backup goes with it`(ending: String) throws {
        let store = try Wreck.store()
        try Self.stage(store, "two")
        try write("left over", to: store.path + ".bak" + ending)
        try Self.stage(store, "three")
        #expect(try Self.body(of: store.path + ".bak") == "two")
        #expect(try StagedMigrationTests.names(beside: store) == ["store", "store.bak"])
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `an earlier backup stays, with its log, where the replacing is cancelled`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        for ending in ["", "-wal"] { try write("earlier", to: store.path + ".bak" + ending) }
        let before = try contents(of: folder)
        let stopped = try sqlError {
            try store.migrateStaged(backupExtension: "bak") {
                $0.phase == .replacing ? .cancel : .continue
            } body: {
                try $0.query("DELETE FROM note")
            }
        }
        #expect(stopped.code == .stopped)
        #expect(try contents(of: folder) == before)
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `where the last pages find no room, the backup is a second copy of the store`(journal: String) throws
    {
        let path = folder + "/store"
        #expect(try Starter("store", "make", path, journal).finish().status == 0)
        for ending in ["", "-wal"] { try write("earlier", to: path + ".bak" + ending) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let result = try Starter("store", "stage-without-room", path, "bak").finish()
        #expect(result.status == 1, "\(result.lines)")
        #expect(result.lines.last?.contains("The store was replaced") == false, "\(result.lines)")
        for copy in [path, path + ".bak"] { #expect(try Starter("store", "old", copy).finish().status == 0) }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(left == names.filter { $0 != "store.bak-wal" })
    }

    @Test func `a store that is only being made takes the place of no backup`() throws {
        let store = SQLiteStore(path: folder + "/store")
        try write("the last that is left", to: store.path + ".bak")
        try store.migrateStaged(backupExtension: "bak") { try $0.execute(script: Wreck.target) }
        #expect(try Wreck.bytes(store.path + ".bak") == Data("the last that is left".utf8))
    }

    @Test(arguments: [
        "PRAGMA user_version = 3",
        "CREATE TABLE Schema_Migrations(version); CREATE TABLE app_migrations(a PRIMARY KEY)",
        "CREATE TABLE once(id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE once",
    ])
    func `a store that never had a table of the app takes the place of no backup`(script: String) throws {
        let store = SQLiteStore(path: folder + "/store")
        let db = try SQLiteConnection(path: store.path)
        for statement in script.split(separator: ";") { try db.query(String(statement)) }
        db.close()
        try write("the last that is left", to: store.path + ".bak")
        for text in ["one", "two"] {
            let isReplaced = try store.migrateStaged(backupExtension: "bak") {
                try $0.query("CREATE TABLE IF NOT EXISTS sqliteLike(body)")
                try $0.query("INSERT INTO sqliteLike VALUES (?)", [.text(text)])
            }
            #expect(isReplaced)
            let isLeft = try Wreck.bytes(store.path + ".bak") == Data("the last that is left".utf8)
            #expect(isLeft == (text == "one"))
        }
    }

    @Test func `what takes the place of a damaged store leaves its backup`() throws {
        let store = try Wreck.store()
        try Self.stage(store, "two")
        let backup = try Wreck.bytes(store.path + ".bak")
        try write("damage", to: store.path)
        try store.open { _ in }.close()
        try store.migrateStaged(backupExtension: "bak") { try $0.execute(script: Wreck.target) }
        #expect(try Wreck.bytes(store.path + ".bak") == backup)
    }

    @Test func `what is no backup stays, and nothing is run`() throws {
        let store = try Wreck.store()
        try TemporaryDirectory.current.makeFolder("store.bak")
        let error = try sqlError {
            try store.migrateStaged(backupExtension: "bak") { _ in Issue.record("run") }
        }
        #expect(error.code == .fileFailure)
        #expect(
            error.description
                == "\(try store.files.store).bak: The backup can't be made: its path exists, but is not a file."
        )
    }

    @Test func `what fails after the swap says that the store was replaced`() throws {
        let store = try Wreck.store()
        let failure = try sqlError {
            try store.migrateStaged {
                try TemporaryDirectory.current.makeFolder("store.migrating-shm")
                try $0.query("UPDATE note SET body = 'three' WHERE id = 1")
            }
        }
        #expect(failure.code == .cleanupFailed)
        #expect(failure.description.hasSuffix(". The next call repeats the cleanup."))
        #expect(
            failure.message.hasPrefix(
                "The store was replaced. Only this failed afterwards: A leftover file could not be removed:"
            )
        )
        #expect(try Self.body(of: store.path) == "three")
    }

    @Test func `a store that ends inside a page doesn't replace the backup`() throws {
        let store = try Wreck.store()
        try write("precious", to: store.path + ".bak")
        try Wreck.change(store.path) { $0.removeLast(50) }
        let before = try contents(of: TemporaryDirectory.current.path)
        let error = try sqlError {
            try store.migrateStaged(backupExtension: "bak") { try $0.query("CREATE TABLE further(a)") }
        }
        #expect(error.code == .damaged)
        #expect(try contents(of: TemporaryDirectory.current.path) == before)
    }
}
