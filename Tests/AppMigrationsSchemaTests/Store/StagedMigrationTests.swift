import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

@Suite(.temporaryDirectory) struct StagedMigrationTests {
    static let journals = ["delete", "wal"]

    static func names(beside store: SQLiteStore) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Platform.folder(of: store.path)).sorted()
    }

    /// A migration that has begun, and has not yet the store's lock.
    static func migration(
        of store: SQLiteStore,
        backup: String? = nil,
        check: SQLiteStore.Check = .full
    ) throws -> StagedMigration {
        let files = try StoreFiles(of: store.path)
        return StagedMigration(files: files, backup: backup, check: check, lockTimeout: .seconds(60))
    }

    static func rows(of path: String) throws -> [[SQLValue]] {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        return try db.query("SELECT count(*), max(body) FROM note")
    }

    @Test(arguments: journals)
    func `the migrated copy takes the store's place, the old one stays as a backup`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        try #require(chmod(store.path, 0o640) == 0)
        let isReplaced = try store.migrateStaged(backupExtension: "bak") { db in
            try db.query("UPDATE note SET body = upper(body)")
            try db.query("VACUUM")
            try db.execute(script: "CREATE TABLE further(a); DELETE FROM note WHERE id > 400")
        }
        #expect(isReplaced)
        #expect(try Self.rows(of: store.path) == [[400, "THE BODY OF NOTE 99"]])
        #expect(try Self.rows(of: store.path + ".bak") == [[500, "the body of note 99"]])
        #expect(try Self.names(beside: store) == ["store", "store.bak"])
        #expect(try SQLiteConnection(path: store.path).query("PRAGMA journal_mode") == [[.text(journal)]])
        for path in [store.path, store.path + ".bak"] {
            #expect(try Platform.status(path)?.permissions == 0o640)
        }
    }

    @Test(arguments: journals)
    func `a body that writes nothing replaces neither the store nor the backup`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        try write("a backup from before", to: store.path + ".bak")
        let before = try contents(of: Platform.folder(of: store.path))
        let isReplaced = try store.migrateStaged(backupExtension: "bak") { db in
            try db.query("SELECT * FROM note")
        }
        #expect(!isReplaced)
        #expect(try contents(of: Platform.folder(of: store.path)) == before)
    }

    @Test(arguments: journals)
    func `a store that is not there yet is made`(journal: String) throws {
        try withTemporaryFolder { folder in
            let store = SQLiteStore(path: folder + "/store")
            try store.migrateStaged { db in
                try db.query("PRAGMA journal_mode = \(journal)")
                try db.execute(script: Wreck.target)
            }
            #expect(try store.status(target: Wreck.target).text == "same")
            #expect(try Self.names(beside: store) == ["store"])
        }
    }

    @Test(arguments: journals)
    func `an error of the body leaves the old store, to the last byte`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        let before = try contents(of: Platform.folder(of: store.path))
        let error = try sqlError {
            try store.migrateStaged(backupExtension: "bak") { db in
                try db.query("DELETE FROM note")
                throw Failure()
            }
        }
        #expect(error.code == .migrationFailed)
        #expect(error.underlyingError is Failure)
        let path = try store.files.store
        #expect(
            error.description
                == "\(path): Failure(). The copy was thrown away, and the store \(path) is as it was."
        )
        #expect(try contents(of: Platform.folder(of: store.path)) == before)
    }

    @Test(arguments: journals)
    func `a copy with another page size goes into the store, where SQLite takes it`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        func migrate() throws {
            try store.migrateStaged(backupExtension: "bak") { db in
                try db.query("PRAGMA journal_mode = delete")
                try db.query("PRAGMA page_size = 4096")
                try db.query("VACUUM")
                try db.query("DELETE FROM note WHERE id = 1")
            }
        }
        if journal == "wal" {
            let error = try sqlError { try migrate() }
            #expect(error.code == .migrationFailed)
            #expect(
                error.description
                    == "\(try store.files.store): The migration changed the page size, which SQLite can't do for a store"
                    + " in WAL mode. Set the journal mode of the store to DELETE first, or keep the page size. The store was"
                    + " not replaced."
            )
            #expect(try Self.rows(of: store.path)[0][0] == 500)
            #expect(try Self.names(beside: store) == ["store"])
        } else {
            try migrate()
            #expect(try Self.rows(of: store.path)[0][0] == 499)
        }
    }

    @Test(arguments: journals)
    func `what a dead process left is no obstacle and goes`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        for ending in ["", "-journal", "-wal", "-shm", "-lock", "-backup", "-backup-journal"] {
            try write("left over", to: store.path + ".migrating" + ending)
        }
        try store.migrateStaged { try $0.query("DELETE FROM note WHERE id = 1") }
        #expect(try Self.rows(of: store.path)[0][0] == 499)
        #expect(try Self.names(beside: store) == ["store"])
    }

    @Test func `what a dead process left goes without a migration, but not what another one works on`() throws
    {
        let store = try Wreck.store(journal: "wal")
        for ending in ["", "-wal", "-backup", "-lock"] {
            try write("left", to: store.path + ".migrating" + ending)
        }
        try store.removeLeftovers()
        #expect(try Self.names(beside: store) == ["store"])
        try store.removeLeftovers()
        #expect(try Self.names(beside: store) == ["store"])
        try store.migrateStaged { db in
            try store.removeLeftovers()
            try db.query("DELETE FROM note WHERE id = 1")
        }
        #expect(try Self.rows(of: store.path)[0][0] == 499)
    }

    @Test func `what a dead process left goes with the next opening, too`() throws {
        let store = try Wreck.store(journal: "wal")
        for ending in ["", "-wal", "-lock"] { try write("left", to: store.path + ".migrating" + ending) }
        try store.open { _ in Issue.record("set aside") }.close()
        #expect(try Self.names(beside: store) == ["store"])
    }

    @Test func `a copy that is in use is not taken for a left-over`() throws {
        let store = try Wreck.store()
        try store.migrateStaged { db in
            let error = try sqlError {
                try store.migrateStaged(lockTimeout: .inVain) { _ in Issue.record("run") }
            }
            #expect(error.code == .busy)
            #expect(error.message == "Another process is migrating, recovering or setting aside this store")
            try db.query("DELETE FROM note WHERE id = 1")
        }
        #expect(try Self.rows(of: store.path)[0][0] == 499)
    }

    @Test(arguments: journals)
    func `while the copy is migrated, others read and nobody writes`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        try store.migrateStaged { db in
            let other = try SQLiteConnection(path: store.path, busyTimeout: .inVain)
            #expect(try other.query("SELECT count(*) FROM note") == [[500]])
            let error = try sqlError { try other.query("DELETE FROM note") }
            #expect(error.code == .busy)
            other.close()
            try db.query("DELETE FROM note WHERE id = 1")
        }
        #expect(try Self.rows(of: store.path)[0][0] == 499)
    }

    @Test(arguments: journals)
    func `what is written when the lock is free is not lost: the copy is made anew`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        let writer = try SQLiteConnection(path: store.path)
        var (bodies, gaps) = (0, 0)
        var migration = try Self.migration(of: store)
        migration.whenUnlocked = { () throws(SQLError) in
            gaps += 1
            if gaps < 3 { try writer.query("INSERT INTO note(body) VALUES ('meanwhile')") }
        }
        var fractions = [Double]()
        let outcome = try migration.run(reportingTo: {
            fractions.append($0.fraction)
            return .continue
        }) { db in
            bodies += 1
            try db.query("ALTER TABLE note ADD COLUMN size")
        }
        #expect(outcome.isReplaced)
        #expect((bodies, gaps) == (3, 3))
        #expect(fractions == fractions.sorted(), "\(fractions)")
        #expect(try writer.query("SELECT count(*) FROM note WHERE body = 'meanwhile'") == [[2]])
        #expect(try writer.query("SELECT count(size), count(*) FROM note") == [[0, 502]])
    }

    @Test func `a store that others always write to in that moment stays, with all they wrote`() throws {
        let store = try Wreck.store()
        let writer = try SQLiteConnection(path: store.path)
        var migration = try Self.migration(of: store, check: .off)
        migration.whenUnlocked = { () throws(SQLError) in
            try writer.query("INSERT INTO note(body) VALUES ('meanwhile')")
        }
        let error = try sqlError {
            try migration.run(reportingTo: { _ in .continue }) {
                try $0.query("ALTER TABLE note ADD COLUMN size")
            }
        }
        #expect(error.code == .busy)
        #expect(
            error.message
                == "In each of ten attempts, other processes wrote to the store before the copy could replace it"
        )
        #expect(try Self.rows(of: store.path)[0][0] == 510)
    }
}
