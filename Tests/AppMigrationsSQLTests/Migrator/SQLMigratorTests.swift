import AppMigrationsSQLite
import Testing

@Suite(.temporaryDirectory) struct SQLMigratorTests {
    let folder = TemporaryDirectory.current.path

    private struct Failure: Error, CustomStringConvertible {
        let description = "the closure's own error"
    }

    private func migrations(_ versions: Int64...) -> [Migration] {
        versions.map { Migration(version: $0, name: "make_t\($0)", sql: "CREATE TABLE t\($0)(x)") }
    }

    @Test func `migrations run once, in the order of their versions, whatever they are made of`() throws {
        try write("INSERT INTO log VALUES (2)", to: folder + "/2_file.sql")
        let code = Migration(version: 3) { db, _ in try db.query("INSERT INTO log VALUES (3)") }
        let migrator = try Migrator(
            [Migration(version: 10, sql: "INSERT INTO log VALUES (10)"), code]
                + SQLMigration.files(in: folder) + SQLMigration.numbered(["CREATE TABLE log(x)"])
        )
        let db = try memory()
        #expect(try migrator.migrate(db).applied == [1, 2, 3, 10])
        #expect(try migrator.migrate(db).applied == [])
        #expect(try db.query("SELECT x FROM log") == [[2], [3], [10]])
    }

    @Test func `nothing is written or locked when nothing is pending`() throws {
        let migrator = try Migrator(migrations(1, 2))
        let db = try SQLiteConnection(path: folder + "/db")
        try migrator.migrate(db)
        let before = try db.query("PRAGMA data_version")
        let other = try SQLiteConnection(path: folder + "/db")
        try other.transaction { () throws in #expect(try migrator.migrate(db).applied == []) }
        #expect(try db.query("PRAGMA data_version") == before)
        try migrator.migrate(SQLiteConnection(path: folder + "/db", readOnly: true))
    }

    @Test func `the ledger has the version, the name, the checksum and the time`() throws {
        let db = try memory()
        let code = Migration(version: 2) { _, _ in }
        try Migrator([Migration(version: 1, name: "one", sql: "CREATE TABLE a(x)"), code]).migrate(db)
        #expect(
            try db.query(
                "SELECT version, name, checksum, applied_at LIKE '____-__-__T__:__:__Z' FROM schema_migrations"
            )
                == [[1, "one", "fnv1a:c8e284113dab7df5", 1], [2, nil, nil, 1]]
        )
        // FMDBMigrationManager can go on with it.
        try db.query("INSERT INTO schema_migrations(version) VALUES (?)", [3])
    }

    @Test func `a version is negative, too long or taken twice: refused before anything runs`() throws {
        #expect(try sqlError { try Migrator(migrations(-1)) }.code == .invalidVersion)
        #expect(try sqlError { try Migrator(migrations(1_000_000_000_000_000_000)) }.code == .invalidVersion)
        let error = try sqlError { try Migrator(migrations(3, 1, 3)) }
        #expect(
            error.description == "Two migrations have the version 3: 3 (make_t3) and 3 (make_t3)."
                + " No migration was run. Give one of them another version."
        )
    }

    @Test func `a failing script leaves nothing of itself and keeps what was done`() throws {
        try write("CREATE TABLE a(x);", to: folder + "/1_a.sql")
        try write("CREATE TABLE b(x UNIQUE);\nINSERT INTO b\n VALUES (1), (1);", to: folder + "/2_b.sql")
        try write("CREATE TABLE c(x);", to: folder + "/3_c.sql")
        let db = try memory()
        let error = try sqlError { try Migrator(SQLMigration.files(in: folder)).migrate(db) }
        #expect(
            error.description == "Migration 2 (b): \(folder)/2_b.sql:2:1: UNIQUE constraint failed: b.x"
                + " (SQLite error 2067). Statement: INSERT INTO b VALUES (1), (1);"
                + " Applied before the failure and kept: 1."
        )
        #expect(error.applied == [1])
        #expect(try tables(in: db) == ["a"])
        #expect(try ledger(of: db) == [1])
    }

    @Test func `a failing closure is rolled back, and its error is inside`() throws {
        let db = try memory()
        let migrator = try Migrator([
            Migration(version: 1, name: "fails") { db, _ in
                try db.query("CREATE TABLE a(x)")
                throw Failure()
            }
        ])
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .migrationFailed)
        #expect(error.underlyingError is Failure)
        #expect(error.description == "Migration 1 (fails): the closure's own error.")
        #expect(try db.query("SELECT * FROM sqlite_master").isEmpty)
    }

    @Test func `in one transaction all are applied or none`() throws {
        let db = try memory()
        let failing = Migration(version: 3) { _, _ in throw Failure() }
        let error = try sqlError {
            try Migrator(migrations(1, 2) + [failing], transactions: .all).migrate(db)
        }
        #expect(error.version == 3)
        #expect(error.applied == [])
        #expect(try db.query("SELECT * FROM sqlite_master").isEmpty)
        #expect(try Migrator(migrations(1, 2), transactions: .all).migrate(db).applied == [1, 2])
    }

    @Test func `a target is where the run ends`() throws {
        let db = try memory()
        let migrator = try Migrator(migrations(1, 5, 9))
        #expect(try migrator.migrate(db, to: 5).applied == [1, 5])
        #expect(try migrator.migrate(db, to: 1).applied == [])
        #expect(try migrator.migrate(db, to: 9).applied == [9])
    }

    @Test func `a target that no migration has is refused`() throws {
        let db = try memory()
        let error = try sqlError { try Migrator(migrations(1, 5)).migrate(db, to: 4) }
        #expect(
            error.description == "No migration has the version 4. No migration was run."
                + " Pass the version of a migration. A database above all of them belongs to a newer release, and needs an"
                + " update of the app."
        )
        #expect(try tables(in: db).isEmpty)
    }

    @Test func `the journal mode and the wait of the connection stay as they are`() throws {
        for mode in ["delete", "wal"] {
            let db = try SQLiteConnection(path: "\(folder)/\(mode)")
            try db.query("PRAGMA journal_mode = \(mode)")
            let borrowed = db.borrowed
            try borrowed.query("PRAGMA busy_timeout = 123")
            try Migrator(migrations(1)).migrate(borrowed)
            #expect(try db.query("PRAGMA journal_mode") == [[.text(mode)]])
            #expect(try db.query("PRAGMA busy_timeout") == [[123]])
        }
    }
}
