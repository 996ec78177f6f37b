import AppMigrationsSQLite
import Foundation
import Testing

@testable import AppMigrationsSchema

/// Migrations that work on the copy in other ways than through the connection that they get.
@Suite(.temporaryDirectory) struct StagedWriterTests {
    private static func copy(of store: SQLiteStore) throws -> String { try store.files.store + ".migrating" }

    @Test(arguments: StagedMigrationTests.journals)
    func `what another connection writes to the copy counts`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        let isReplaced = try store.migrateStaged { _ in
            let mine = try SQLiteConnection(path: Self.copy(of: store))
            try mine.query("DELETE FROM note WHERE id > 10")
            mine.close()
        }
        #expect(isReplaced)
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 10)
    }

    @Test(arguments: StagedMigrationTests.journals)
    func `another connection that has not committed is noticed`(journal: String) throws {
        let store = try Wreck.store(journal: journal)
        var mine: SQLiteConnection?
        let error = try sqlError {
            try store.migrateStaged(lockTimeout: .inVain) { _ in
                mine = try SQLiteConnection(path: Self.copy(of: store))
                try mine?.query("BEGIN IMMEDIATE")
                try mine?.query("DELETE FROM note")
            }
        }
        mine?.close()
        #expect(error.code == .alreadyInTransaction)
        #expect(
            error.message
                == "Another connection to the copy is still in a transaction. The store was not replaced"
        )
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
    }

    @Test func `a file put in the place of the copy is noticed`() throws {
        let store = try Wreck.store()
        let error = try sqlError {
            try store.migrateStaged { db in
                let copy = try Self.copy(of: store)
                try db.query("VACUUM INTO ?", [.text(copy + "-wal")])
                try FileManager.default.removeItem(atPath: copy)
                try FileManager.default.moveItem(atPath: copy + "-wal", toPath: copy)
            }
        }
        #expect(error.code == .migrationFailed)
        #expect(
            error.message
                == "The migration replaced the file of the copy with another file. The store was not replaced"
        )
        #expect(try StagedMigrationTests.rows(of: store.path)[0][0] == 500)
    }

    @Test func `an error of this library keeps its facts, and says what became of the store`() throws {
        let store = try Wreck.store()
        let error = try sqlError { try store.migrateStaged { try $0.execute(script: "DROP TABLE nope") } }
        #expect(error.code == .statementFailed)
        let path = try store.files.store
        #expect(
            error.description.hasPrefix(
                "\(path).migrating: line 1, column 1: no such table: nope (SQLite error 1)."
            )
        )
        #expect(error.description.hasSuffix(" The copy was thrown away, and the store \(path) is as it was."))
    }

    @Test func `what a migrator had applied to the copy is not told as kept`() throws {
        let store = try Wreck.store()
        let migrator = try Migrator([
            Migration(version: 1, sql: "CREATE TABLE a(x)"),
            Migration(version: 2, sql: "CREATE TABLE b(x)"),
        ])
        let error = try sqlError { try store.migrateStaged { try migrator.migrate($0) { _ in .stop } } }
        #expect(error.code == .stopped)
        #expect(error.applied == [])
        #expect(!error.description.contains("kept"))
        #expect(error.description.contains("The copy was thrown away"))
    }
}
