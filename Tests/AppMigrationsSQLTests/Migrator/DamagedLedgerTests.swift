import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

/// A ledger whose index lacks a row, which is the most common damage of an SQLite file.
@Suite(.temporaryDirectory) struct DamagedLedgerTests {
    let folder = TemporaryDirectory.current.path

    /// Lets the index of a table's UNIQUE or PRIMARY KEY constraint lose its last row.
    ///
    /// The page of the index has the number of its cells in the bytes 3 and 4 ("B-tree Pages" of the "Database File Format").
    private func damageIndex(of table: String) throws {
        let path = folder + "/db"
        let place: (root: Int64, size: Int64)
        do {
            let db = try SQLiteConnection(path: path)
            let sql = "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = ?"
            place = (
                try #require(try db.query(sql, [.text(table)]).first?.first?.number),
                try #require(try db.query("PRAGMA page_size").first?.first?.number)
            )
            db.close()
        }
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        let start = UInt64((place.root - 1) * place.size)
        try file.seek(toOffset: start)
        let header = try #require(try file.read(upToCount: 5))
        // A leaf page of an index.
        try #require(header[0] == 0x0A)
        let count = Int(header[3]) << 8 | Int(header[4])
        try #require(count > 0)
        try file.seek(toOffset: start + 3)
        try file.write(contentsOf: Data([UInt8((count - 1) >> 8), UInt8((count - 1) & 0xFF)]))
    }

    private static let migrations = [
        Migration(version: 1, sql: "CREATE TABLE account(balance); INSERT INTO account VALUES (1)"),
        Migration(version: 2, sql: "UPDATE account SET balance = balance * 100"),
    ]

    private func balance(_ db: SQLiteConnection) throws -> [[SQLValue]] {
        try db.query("SELECT balance FROM account")
    }

    @Test func `a ledger whose index lacks a row runs nothing twice`() throws {
        let migrator = try Migrator(Self.migrations)
        var db = try SQLiteConnection(path: folder + "/db")
        try migrator.migrate(db)
        db.close()
        try damageIndex(of: "schema_migrations")
        db = try SQLiteConnection(path: folder + "/db")
        // The damage is there.
        #expect(try db.query("SELECT version FROM schema_migrations WHERE version = 2").isEmpty)
        #expect(try migrator.status(db).pending == [])
        #expect(try migrator.migrate(db).applied == [])
        #expect(try balance(db) == [[100]])
        #expect(try migrator.markApplied(upTo: 2, in: db, repairingLedger: true) == [])
        let third = Migration(version: 3, sql: "UPDATE account SET balance = balance + 1")
        #expect(try Migrator(Self.migrations + [third]).migrate(db).applied == [3])
        #expect(try balance(db) == [[101]])
    }

    @Test func `a connection of another library reads the ledger in the same way`() throws {
        var db = try SQLiteConnection(path: folder + "/db")
        let migrations = [
            SQLMigration<OtherConnection>(
                version: 1,
                sql: "CREATE TABLE account(balance); INSERT INTO account VALUES (1)"
            ),
            SQLMigration<OtherConnection>(version: 2, sql: "UPDATE account SET balance = balance * 100"),
        ]
        try SQLMigrator(migrations).migrate(OtherConnection(db))
        db.close()
        try damageIndex(of: "schema_migrations")
        db = try SQLiteConnection(path: folder + "/db")
        #expect(try SQLMigrator(migrations).migrate(OtherConnection(db)).applied == [])
        #expect(try balance(db) == [[100]])
    }

    @Test func `a version of a manager runs once though the index of its table lacks the row`() throws {
        func migrate(_ state: String) throws -> (ran: Bool, balance: [[SQLValue]]) {
            let db = try SQLiteConnection(path: folder + "/db")
            defer { db.close() }
            try db.execute(
                script:
                    "CREATE TABLE IF NOT EXISTS account(balance); INSERT INTO account SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM account)"
            )
            let manager = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                firstRun: .existingData(at: "1.0"),
                stateDirectory: folder + "/" + state
            )
            let ran = try manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try db.query("UPDATE account SET balance = balance * 100")
            }
            return (ran, try balance(db))
        }
        #expect(try migrate("first") == (true, [[100]]))
        try damageIndex(of: "app_migrations")
        // The state is new, and only the database knows that the version has run.
        #expect(try migrate("second") == (false, [[100]]))
    }

    @Test func `a first migration that meets tables says that the ledger is empty, and what to do`() throws {
        let db = try memory()
        let migrator = try Migrator(Self.migrations)
        try migrator.migrate(db)
        // So does an app at a log-out that deletes the rows of all tables.
        try db.query("DELETE FROM schema_migrations")
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .statementFailed)
        #expect(
            error.message
                == "table account already exists. The ledger schema_migrations has no rows, and the database has tables. If they are"
                + " the work of migrations, record these with markApplied(upTo:in:repairingLedger:)"
        )
        #expect(try migrator.markApplied(upTo: 2, in: db, repairingLedger: true) == [1, 2])
        #expect(try migrator.migrate(db).applied == [])
        #expect(try balance(db) == [[100]])
    }

    @Test func `an error of a later migration, or in an empty database, says nothing of the ledger`() throws {
        let wrong = Migration(version: 3, sql: "CREATE TABLE account(x)")
        let later = try sqlError { try Migrator(Self.migrations + [wrong]).migrate(memory()) }
        #expect(later.message == "table account already exists")
        let first = try sqlError {
            try Migrator([Migration(version: 1, sql: "DROP TABLE no")]).migrate(memory())
        }
        #expect(first.message == "no such table: no")
    }
}
