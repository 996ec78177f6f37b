import AppMigrationsSQLite
import Testing

@Suite struct SQLScriptTests {
    @Test(arguments: ScriptCase.all, [false, true])
    func `a script runs whole, or is refused with its place and changes nothing`(
        row: ScriptCase,
        isBorrowed: Bool
    ) throws {
        // The authorizer of a borrowed connection is its owner's.
        let owner = try memory()
        let db = isBorrowed ? owner.borrowed : owner
        let migrator = try Migrator([Migration(version: 1, sql: row.script)])
        switch row.outcome {
        case .made(let expected):
            try migrator.migrate(db)
            #expect(try tables(in: db) == expected)
            #expect(try ledger(of: db) == [1])
        case .ended(let code, let line, let column):
            let error = try sqlError { try migrator.migrate(db) }
            #expect(error.code == code, "\(error)")
            #expect([error.line, error.column] == [line, column], "\(error)")
            #expect(error.version == 1)
            #expect(try owner.query("SELECT name FROM sqlite_master").isEmpty)
            #expect(try !db.isInTransaction)
        }
    }

    @Test func `a line end that SQLite does not see is named`() throws {
        let error = try sqlError { try memory().execute(script: "-- one\u{2028}DELETE FROM a") }
        #expect(
            error.description
                == "line 1, column 7: U+2028 ends a line in an editor, but not in SQLite: a -- comment continues after"
                + " it. Use a line feed instead."
                + " No statement of the script was run. Correct its text."
        )
    }

    @Test func `outside of a transaction a script may begin and end its own`() throws {
        let db = try memory()
        try db.execute(script: "BEGIN; CREATE TABLE a(x); COMMIT; PRAGMA foreign_keys = ON")
        #expect(try tables(in: db) == ["a"])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }

    @Test func `a transaction that a failing script began is rolled back`() throws {
        let db = try memory()
        let error = try sqlError { try db.execute(script: "BEGIN; CREATE TABLE a(x); SELECT nothing") }
        #expect(error.code == .statementFailed)
        #expect(try !db.isInTransaction)
        #expect(try tables(in: db).isEmpty)
    }

    @Test(arguments: ["CASCADE", "SET NULL", "SET DEFAULT"])
    func `dropping a table is refused where it would change the rows that refer to it`(action: String) throws
    {
        let db = try memory(foreignKeys: true)
        try db.execute(
            script: """
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(p DEFAULT 1 REFERENCES parent(id) ON DELETE \(action));
                INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (2);
                """
        )
        for connection in [db, db.borrowed] {
            let error = try sqlError {
                try connection.transaction {
                    try connection.execute(script: "DROP TABLE IF EXISTS main.\"Parent\"")
                }
            }
            #expect(error.code == .refusedStatement)
            #expect(try db.query("SELECT p FROM child") == [[2]])
        }
        try db.transaction { try db.execute(script: "DROP TABLE child; DROP TABLE parent") }
        #expect(try tables(in: db).isEmpty)
    }
}
