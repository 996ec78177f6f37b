import AppMigrationsSQLite
import Testing

@Suite struct SQLMigratorTransactionTests {
    private let make = Migration(version: 1, sql: "CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1)")

    @Test(arguments: ["INSERT OR ROLLBACK INTO a VALUES (1)", "INSERT INTO b VALUES (1)"])
    func `nothing of a script runs after SQLite ended the transaction`(statement: String) throws {
        let db = try memory()
        try Migrator([make]).migrate(db)
        let script = """
            CREATE TABLE b(x);
            CREATE TRIGGER t BEFORE INSERT ON b BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
            \(statement);
            CREATE TABLE c(x);
            """
        let error = try sqlError { try Migrator([make, Migration(version: 2, sql: script)]).migrate(db) }
        #expect(error.code == .statementFailed)
        #expect(error.line == 3)
        #expect(try tables(in: db) == ["a"])
        #expect(try ledger(of: db) == [1])
        #expect(try !db.isInTransaction)
        try db.query("INSERT INTO a VALUES (2)")
    }

    @Test func `a closure that passes over such an end writes nothing more`() throws {
        let db = try memory()
        let second = Migration(version: 2) { db, _ in
            #expect(throws: SQLError.self) { try db.query("INSERT OR ROLLBACK INTO a VALUES (1)") }
            try db.query("INSERT INTO a VALUES (2)")
        }
        let error = try sqlError { try Migrator([make, second]).migrate(db) }
        #expect(error.code == .transactionEnded)
        #expect(try db.query("SELECT x FROM a") == [[1]])
        #expect(try ledger(of: db) == [1])
    }

    @Test(arguments: ["COMMIT", "ROLLBACK", "RELEASE app_migrations_guard", "COMMIT; BEGIN"])
    func `a closure that ends its transaction is not recorded`(script: String) throws {
        let db = try memory()
        let statements = script.split(separator: "; ").map(String.init)
        let second = Migration(version: 2) { db, _ in for statement in statements { try db.query(statement) }
        }
        let error = try sqlError { try Migrator([make, second]).migrate(db) }
        #expect(error.code == .transactionEnded)
        #expect(error.version == 2)
        #expect(try ledger(of: db) == [1])
        #expect(try !db.isInTransaction)
    }

    @Test func `a connection that is in a transaction is refused, and the transaction stays`() throws {
        for foreignKeys in [false, true] {
            let db = try memory(foreignKeys: foreignKeys)
            try db.query("BEGIN")
            try db.query("CREATE TABLE mine(x)")
            for connection in [db, db.borrowed] {
                let error = try sqlError { try Migrator([make]).migrate(connection) }
                #expect(error.code == .alreadyInTransaction)
            }
            try db.query("COMMIT")
            #expect(try tables(in: db) == ["mine"])
            #expect(try db.query("PRAGMA foreign_keys") == [[foreignKeys ? 1 : 0]])
        }
    }

    @Test func `inside a transaction each migration is a savepoint of the caller's`() throws {
        let db = try memory()
        let failing = Migration(version: 2) { db, _ in
            try db.query("CREATE TABLE b(x)")
            throw Failure()
        }
        try db.query("BEGIN IMMEDIATE")
        try db.query("CREATE TABLE mine(x)")
        let error = try sqlError { try Migrator([make, failing]).migrate(db, insideTransaction: true) }
        #expect(error.version == 2)
        #expect(error.applied == [1])
        #expect(try db.isInTransaction)
        #expect(try tables(in: db) == ["a", "mine"])
        #expect(try ledger(of: db) == [1])
        try db.query("ROLLBACK")
        #expect(try db.query("SELECT * FROM sqlite_master").isEmpty)
    }

    @Test func `inside a transaction what the caller commits stays`() throws {
        let db = try memory()
        try db.transaction { try Migrator([make]).migrate(db, insideTransaction: true) }
        #expect(try ledger(of: db) == [1])
        let error = try sqlError {
            try Migrator([make, Migration(version: 2, sql: "SELECT 1")]).migrate(db, insideTransaction: true)
        }
        #expect(error.code == .notInTransaction)
    }

    @Test func `inside a transaction a script that SQLite rolls back is reported, and nothing is half done`()
        throws
    {
        let db = try memory()
        try db.query("BEGIN IMMEDIATE")
        let second = Migration(version: 2, sql: "INSERT OR ROLLBACK INTO a VALUES (1); CREATE TABLE c(x)")
        let error = try sqlError { try Migrator([make, second]).migrate(db, insideTransaction: true) }
        #expect(error.message.contains("the rollback failed"))
        #expect(try sqlError { try db.query("CREATE TABLE d(x)") }.code == .transactionEnded)
        try db.query("ROLLBACK")
        #expect(try tables(in: db).isEmpty)
    }

    @Test func `a pragma of durability that can't be set back keeps no other from it`() throws {
        let db = try memory()
        try db.query("PRAGMA synchronous = 1")
        let connection = OtherConnection(db) { sql in
            if sql == "PRAGMA synchronous = 1" {
                throw OtherConnection.Failure(description: "disk I/O error")
            }
        }
        let error = try sqlError {
            try SQLMigrator([SQLMigration(version: 1, sql: "CREATE TABLE a(x)")]).migrate(connection)
        }
        #expect(error.description == "Migration 1: disk I/O error. Applied before the failure and kept: 1.")
        #expect(try db.query("PRAGMA fullfsync") == [[0]])
        #expect(try ledger(of: db) == [1])
    }
}
