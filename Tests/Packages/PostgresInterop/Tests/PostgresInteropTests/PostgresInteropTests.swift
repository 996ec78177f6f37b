import AppMigrations
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

typealias Migration = SQLMigration<PostgresConnection>
typealias Migrator = SQLMigrator<PostgresConnection>

@Suite struct PostgresInteropTests {
    private struct Failure: Error {}

    private let first = Migration(
        version: 1,
        name: "people",
        sql:
            "CREATE TABLE people(id BIGINT PRIMARY KEY, name TEXT NOT NULL); INSERT INTO people VALUES (1, 'Ada');"
    )
    private let second = Migration(version: 2) { db, _ in
        try db.query("INSERT INTO people VALUES ($1, $2)", [2, "Zoë"])
    }

    @Test func `migrations run once`() throws {
        try withConnection { db, info in
            let migrator = try Migrator([second, first])
            #expect(try migrator.status(db).hasMigrationsTable == false)
            #expect(try migrator.migrate(db).applied == [1, 2])
            #expect(try migrator.migrate(db).applied == [])
            #expect(try migrator.migrate(PostgresConnection(info)).applied == [])
            #expect(try db.query("SELECT id, name FROM people ORDER BY id") == [[1, "Ada"], [2, "Zoë"]])
            let status = try migrator.status(db)
            #expect(status.applied == [1, 2])
            #expect(status.editedVersions == [])
            let rows = try db.query(
                "SELECT version, name, applied_at ~ '^....-..-..T..:..:..Z$' FROM schema_migrations ORDER BY version"
            )
            #expect(rows == [[1, "people", "t"], [2, nil, "t"]])
        }
    }

    @Test(
        arguments: [
            ("INSERT INTO people VALUES (1, 'again')", SQLError.Code.statementFailed),
            ("COMMIT", .transactionEnded),
            ("ROLLBACK", .transactionEnded),
        ]
    )
    func `a failing migration is not recorded, and leaves nothing where it did not commit`(
        statement: String,
        code: SQLError.Code
    ) throws {
        try withConnection { db, _ in
            let failing =
                code == .transactionEnded
                ? Migration(version: 2) { db, _ in
                    try db.execute(script: "CREATE TABLE half(x INT); \(statement)")
                }
                : Migration(version: 2, sql: "CREATE TABLE half(x INT); \(statement)")
            let error = try #require(throws: SQLError.self) { try Migrator([first, failing]).migrate(db) }
            #expect(error.code == code, "\(error)")
            #expect(error.version == 2)
            #expect(error.applied == [1])
            #expect(try db.query("SELECT version FROM schema_migrations") == [[1]])
            if statement != "COMMIT" { #expect(try db.query("SELECT to_regclass('half')") == [[nil]]) }
            #expect(try Migrator([first, second]).migrate(db).applied == [2])
        }
    }

    @Test func `in one transaction all are applied or none`() throws {
        try withConnection { db, _ throws in
            let failing = Migration(version: 3) { _, _ in throw Failure() }
            #expect(throws: SQLError.self) {
                try Migrator([first, second, failing], transactions: .all).migrate(db)
            }
            #expect(
                try db.query("SELECT to_regclass('people'), to_regclass('schema_migrations')") == [
                    [nil, nil]
                ]
            )
        }
    }

    @Test func `inside a transaction it is the caller's`() throws {
        try withConnection { db, _ in
            let failing = Migration(version: 2, sql: "SELECT 1 / 0")
            try db.query("BEGIN")
            let error = try #require(throws: SQLError.self) {
                try Migrator([first, failing]).migrate(db, insideTransaction: true)
            }
            #expect(error.applied == [1])
            try db.query("COMMIT")
            #expect(try db.query("SELECT version FROM schema_migrations") == [[1]])
        }
    }

    @Test func `a lock held for longer than the wait is an error`() throws {
        try withConnection { db, info in
            let other = try PostgresConnection(info)
            try db.query("BEGIN")
            try Migrator([first]).migrate(db, insideTransaction: true)
            let error = try #require(throws: SQLError.self) {
                try Migrator([first], lockTimeout: .milliseconds(20)).migrate(other)
            }
            #expect(error.message.contains("lock timeout"))
            #expect(error.code == .busy)
            // In the transaction of a caller the wait is the migrator's, too, and the caller's own comes back.
            try other.query("BEGIN")
            try other.query("SET LOCAL lock_timeout = '7s'")
            let inside = try #require(throws: SQLError.self) {
                try Migrator([first], lockTimeout: .milliseconds(20)).migrate(other, insideTransaction: true)
            }
            #expect(inside.code == .busy)
            try other.query("ROLLBACK")
            try db.query("COMMIT")
            try other.query("BEGIN")
            try other.query("SET LOCAL lock_timeout = '7s'")
            try Migrator([first, second]).migrate(other, insideTransaction: true)
            #expect(try other.query("SHOW lock_timeout") == [["7s"]])
            try other.query("ROLLBACK")
            #expect(
                try Migrator([first, second], lockTimeout: .milliseconds(20)).migrate(other).applied == [2]
            )
        }
    }

    @Test func `a script that waits for a table in vain is busy`() throws {
        try withConnection { db, info in
            let other = try PostgresConnection(info)
            try Migrator([first]).migrate(db)
            try other.query("BEGIN")
            try other.query("LOCK TABLE people")
            let waiting = Migration(version: 2, name: "wait", sql: "ALTER TABLE people ADD COLUMN born INT")
            let error = try #require(throws: SQLError.self) {
                try Migrator([first, waiting], lockTimeout: .milliseconds(20)).migrate(db)
            }
            #expect(error.code == .busy)
            try other.query("COMMIT")
            #expect(try Migrator([first, waiting]).migrate(db).applied == [2])
        }
    }

    @Test(
        arguments: [
            ("version bigint, dirty boolean", "golang-migrate"),
            ("version bigint, inserted_at timestamp(0) without time zone", "Ecto"),
            ("version character varying(255)", "Rails or dbmate"),
        ]
    )
    func `the ledger of another tool is refused by its columns`(columns: String, tool: String) throws {
        try withConnection { db, _ in
            try db.query("CREATE TABLE schema_migrations(\(columns))")
            let error = try #require(throws: SQLError.self) { try Migrator([first]).migrate(db) }
            #expect(error.code == .foreignLedger)
            #expect(
                error.message
                    == "The table schema_migrations is no ledger of this library, because its columns are \(columns)."
                    + " It looks like the ledger of \(tool)"
            )
            #expect(try db.query("SELECT to_regclass('people')") == [[nil]])
            let ledger = "a \"b\" 'c'"
            #expect(try Migrator([first], ledger: ledger).migrate(db).applied == [1])
            #expect(try Migrator([first], ledger: ledger).migrate(db).applied == [])
        }
    }

    @Test func `a ledger that another migrator wrote is an error, and one with an edited text is none`()
        throws
    {
        try withConnection { db, _ in
            try Migrator([Migration(version: 1, sql: "CREATE TABLE People(x INT)")]).migrate(db)
            let other = Migration(
                version: 1,
                sql: "CREATE TABLE public.Song(x INT); CREATE TABLE \"List\"(x INT)"
            )
            let error = try #require(throws: SQLError.self) { try Migrator([other]).migrate(db) }
            #expect(
                error.message
                    == "The table schema_migrations belongs to another migrator: its version 1 has another text, and"
                    + " the database has no Song, List"
            )
            #expect(try Migrator([first]).migrate(db).editedVersions == [1])
        }
    }

    @Test func `a row that a trigger leaves out undoes its migration`() throws {
        try withConnection { db, _ in
            try db.execute(
                script: """
                    CREATE TABLE schema_migrations(version BIGINT);
                    CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                    CREATE TRIGGER t BEFORE INSERT ON schema_migrations FOR EACH ROW EXECUTE FUNCTION skip();
                    """
            )
            let error = try #require(throws: SQLError.self) { try Migrator([first]).migrate(db) }
            #expect(error.code == .ledgerUnreadable)
            #expect(try db.query("SELECT to_regclass('people')") == [[nil]])
        }
    }
}
