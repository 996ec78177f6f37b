import AppMigrationsSQLite
import Testing

/// What a rebuild refuses, with its words.
struct Refusal: Sendable, CustomTestStringConvertible {
    var before = "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (NULL, 3)"
    var table = "t"
    var createTable = "CREATE TABLE t(a, b)"
    var values: [String: String] = [:]
    var dropping: [String] = []
    let message: String

    var testDescription: String { message }

    static let ofTables = [
        Refusal(
            table: "x",
            message: "Rebuilding the table x: There is no table of this name. Nothing was changed."
                + " Correct the name, or create the table."
        ),
        Refusal(
            before: "CREATE VIEW t AS SELECT 1",
            message: "Rebuilding the table t: It is a view. Nothing was changed."
                + " Drop it and create it again, since it holds no rows."
        ),
        Refusal(
            before: "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)",
            table: "sqlite_sequence",
            message:
                "Rebuilding the table sqlite_sequence: It is a table of SQLite's own. Nothing was changed."
                + " Choose a table of your own."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE t USING fts5(a)",
            message: "Rebuilding the table t: It is a virtual table, whose module keeps its rows. Nothing was"
                + " changed. Create another one, copy the rows, and drop this one."
        ),
        Refusal(
            before: "CREATE VIRTUAL TABLE f USING fts5(a)",
            table: "f_content",
            message:
                "Rebuilding the table f_content: It is a shadow table, in which a virtual table keeps its rows."
                + " Nothing was changed. Leave it alone."
        ),
        Refusal(
            createTable: "CREATE VIRTUAL TABLE t USING fts5(a)",
            message: "Rebuilding the table t: The statement of the new table is no CREATE TABLE. Nothing was"
                + " changed. Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "DROP TABLE t",
            message: "Rebuilding the table t: The statement of the new table is no CREATE TABLE. Nothing was"
                + " changed. Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b); DROP TABLE t",
            message:
                "Rebuilding the table t: More follows the statement of the new table. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TEMP TABLE t(a, b)",
            message:
                "Rebuilding the table t: The new table would not be in the main database. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t2(a, b)",
            message:
                "Rebuilding the table t: The statement of the new table makes the table t2. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t AS SELECT 1",
            message:
                "Rebuilding the table t: The new table would get its rows from a SELECT. Nothing was changed."
                + " Pass CREATE TABLE t with its columns."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b",
            message: "Rebuilding the table t: incomplete input. The table and its rows are as they were"
        ),
    ]

    static let ofColumns = [
        Refusal(
            createTable: "CREATE TABLE t(a)",
            message: "Rebuilding the table t: The new table has no column b. Nothing was changed."
                + " Use it in values: if it gets another name, or name it in dropping:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b AS (a))",
            message:
                "Rebuilding the table t: The values of b would be replaced by generated ones. Nothing was"
                + " changed. Use it in values: if it gets another name, or name it in dropping:."
        ),
        Refusal(
            dropping: ["A"],
            message:
                "Rebuilding the table t: The column A is to be dropped, and the new table has it. Nothing was"
                + " changed. Take it out of one of the two."
        ),
        Refusal(
            dropping: ["c"],
            message:
                "Rebuilding the table t: There is no column, index, trigger or view c to drop. Nothing was"
                + " changed. Correct the name, or take it out of dropping:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c TEXT NOT NULL)",
            message:
                "Rebuilding the table t: The new column c is NOT NULL, and has neither a default nor a value."
                + " Nothing was changed. Give one of them, a value in values:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c TEXT NOT NULL DEFAULT NULL)",
            message:
                "Rebuilding the table t: The new column c is NOT NULL, and has neither a default nor a value."
                + " Nothing was changed. Give one of them, a value in values:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a NOT NULL DEFAULT 0, b NOT NULL)",
            message:
                "Rebuilding the table t: The column a becomes NOT NULL, and rows without a value there are 1."
                + " Nothing was changed. Give one in values:, such as coalesce(a, '')."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID",
            message:
                "Rebuilding the table t: The column a becomes NOT NULL, and rows without a value there are 1."
                + " Nothing was changed. Give one in values:, such as coalesce(a, '')."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)",
            message:
                "Rebuilding the table t: The column a becomes NOT NULL, and rows without a value there are 1."
                + " Nothing was changed. Give one in values:, such as coalesce(a, '')."
        ),
        Refusal(
            before: "CREATE TABLE t(rowid, oid, _rowid_)",
            createTable: "CREATE TABLE t(a)",
            dropping: ["rowid", "oid", "_rowid_"],
            message:
                "Rebuilding the table t: The new table has no column of the old one. Nothing was changed."
                + " Give it one, or drop the table."
        ),
    ]

    static let ofValues = [
        Refusal(
            values: ["c": "1"],
            message:
                "Rebuilding the table t: There is a value for c, which is no column of the new table. Nothing"
                + " was changed. Correct values:."
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b, c AS (a))",
            values: ["c": "1"],
            message:
                "Rebuilding the table t: There is a value for c, which is a generated column. Nothing was"
                + " changed. Correct values:."
        ),
        Refusal(
            values: ["a": "1", "A": "2"],
            message: "Rebuilding the table t: There are two values for the column a. Nothing was changed."
                + " Correct values:."
        ),
        Refusal(
            values: ["a": " -- nothing"],
            message: "Rebuilding the table t: The value for a is empty. Nothing was changed. Correct values:."
        ),
        Refusal(
            values: ["a": "\"aa\" || 'x'"],
            message:
                "Rebuilding the table t: The value for a has \"aa\", which is no column of the old table, so that"
                + " SQLite would take it for a text. Nothing was changed. Write a text in single quotes, and a"
                + " name of another table in backticks."
        ),
        Refusal(
            values: ["a": "max(a)"],
            message:
                "Rebuilding the table t: Of 2 rows 1 would be left. Nothing was changed. An expression in values:"
                + " must give one value for each row, so it can hold no aggregate function."
        ),
        Refusal(
            values: ["a": "nope"],
            message: "Rebuilding the table t: no such column: nope. The table and its rows are as they were"
                + " (SQLite error 1)."
        ),
        Refusal(
            values: ["a": "1) FROM t WHERE (a"],
            message:
                "Rebuilding the table t: near \",\": syntax error. The table and its rows are as they were"
        ),
    ]

    static let ofRows = [
        Refusal(
            createTable: "CREATE TABLE t(a, b UNIQUE)",
            values: ["b": "7"],
            message:
                "Rebuilding the table t: UNIQUE constraint failed: t.b. The table and its rows are as they were"
                + " (SQLite error 2067). Statement: INSERT OR ABORT"
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b CHECK (b < 3))",
            message:
                "Rebuilding the table t: CHECK constraint failed: b < 3. The table and its rows are as they were"
        ),
        Refusal(
            before: "CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 1)",
            createTable: "CREATE TABLE t(a INTEGER, b) STRICT",
            message: "Rebuilding the table t: missing datatype for t.b. The table and"
        ),
        Refusal(
            before: "CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 1)",
            createTable: "CREATE TABLE t(a INTEGER, b INT) STRICT",
            message: "Rebuilding the table t: cannot store TEXT value in INTEGER column t.a. The table"
        ),
        Refusal(
            createTable: "CREATE TABLE t(a NOT NULL ON CONFLICT IGNORE, b)",
            values: ["a": "a"],
            message:
                "Rebuilding the table t: NOT NULL constraint failed: t.a. The table and its rows are as they were"
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b UNIQUE ON CONFLICT IGNORE)",
            values: ["b": "7"],
            message:
                "Rebuilding the table t: UNIQUE constraint failed: t.b. The table and its rows are as they were"
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b UNIQUE ON CONFLICT REPLACE)",
            values: ["b": "7"],
            message:
                "Rebuilding the table t: UNIQUE constraint failed: t.b. The table and its rows are as they were"
        ),
        Refusal(
            createTable: "CREATE TABLE t(a, b UNIQUE ON CONFLICT ROLLBACK)",
            values: ["b": "7"],
            message:
                "Rebuilding the table t: UNIQUE constraint failed: t.b. The table and its rows are as they were"
        ),
        Refusal(
            before: """
                CREATE TABLE t(a CHECK (t.a > 0), b); INSERT INTO t VALUES (1, 2), (2, 2); CREATE INDEX i ON t(a);
                CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END
                """,
            createTable: "CREATE TABLE t(a, b UNIQUE)",
            message:
                "Rebuilding the table t: UNIQUE constraint failed: t.b. The table and its rows are as they were"
        ),
    ]
}

@Suite struct RebuildRefusalTests {
    @Test(arguments: Refusal.ofTables + Refusal.ofColumns + Refusal.ofValues + Refusal.ofRows)
    func `nothing is changed, and the error says why and what to do`(_ refusal: Refusal) throws {
        let db = try database(refusal.before)
        let rebuild = TableRebuild(
            refusal.table,
            as: refusal.createTable,
            values: refusal.values,
            dropping: refusal.dropping
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.description.hasPrefix(refusal.message), "\(error)")
        if error.code == .refusedSchemaChange { #expect(error.description == refusal.message) }

        try db.query("PRAGMA foreign_keys = OFF")
        try db.query("BEGIN")
        try db.query("CREATE TABLE before_it(x)")
        let inside = try refused(db) { try rebuild.run(db) }
        #expect(inside.description.hasPrefix(refusal.message), "\(inside)")
        try db.query("COMMIT")
        #expect(try tables(in: db).contains("before_it"))
    }

    @Test func `inside a transaction foreign keys must be off`() throws {
        let db = try database("CREATE TABLE t(a)")
        try db.query("BEGIN")
        let error = try refused(db) { try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(db) }
        #expect(
            error.description
                == "Rebuilding the table t: Foreign keys are on, and SQLite cannot turn them off inside"
                + " a transaction: the rows that refer to a table would be deleted with it. Nothing was changed."
                + " Run it outside of the transaction, or in a migration, which turns them off before."
        )
        #expect(try db.isInTransaction)
    }

    @Test func `a migration can rebuild, and is recorded or not with it`() throws {
        let db = try database(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);
            INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
            """
        )
        let rebuild = TableRebuild("p", as: "CREATE TABLE p(id INTEGER PRIMARY KEY, name)")
        let bad = TableRebuild("p", as: "CREATE TABLE p(id INTEGER PRIMARY KEY)")
        let error = try sqlError {
            try Migrator(
                [
                    Migration(version: 1) { try rebuild.run($0) },
                    Migration(version: 2) { db in
                        try db.query("DELETE FROM c")
                        try bad.run(db)
                    },
                ]
            ).migrate(db)
        }
        #expect(error.version == 2)
        #expect(error.code == .refusedSchemaChange)
        #expect(try ledger(of: db) == [1])
        #expect(try db.query("SELECT id, name, p FROM p, c") == [[1, nil, 1]])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
    }

    @Test(arguments: [false, true])
    func `legacy_alter_table stays on where it was`(fails: Bool) throws {
        let db = try database("CREATE TABLE t(a)", foreignKeys: false)
        try db.query("PRAGMA legacy_alter_table = ON")
        let rebuild = TableRebuild("t", as: fails ? "CREATE TABLE t(b)" : "CREATE TABLE t(a, b)")
        if fails { _ = try refused(db) { try rebuild.run(db) } } else { try rebuild.run(db) }
        #expect(try db.query("PRAGMA legacy_alter_table") == [[1]])
        #expect(try db.query("PRAGMA foreign_keys") == [[0]])
    }

    @Test(arguments: [false, true])
    func `a full disk in the middle leaves everything, and the settings`(inTransaction: Bool) throws {
        let db = try database("CREATE TABLE t(a)", foreignKeys: !inTransaction)
        for _ in 0..<200 { try db.query("INSERT INTO t VALUES (randomblob(1000))") }
        guard case .integer(let pages) = try db.query("PRAGMA page_count")[0][0] else { return }
        try db.query("PRAGMA max_page_count = \(pages + 2)")
        let before = try everything(in: db)
        if inTransaction { try db.query("BEGIN") }
        let error = try sqlError { try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(db) }
        #expect(error.code == .diskFull)
        #expect(error.message.hasPrefix("Rebuilding the table t: database or disk is full"))
        if inTransaction { try db.query("ROLLBACK") }
        #expect(try everything(in: db) == before)
    }

    @Test(arguments: [false, true])
    func `a task that is cancelled in the middle leaves everything, and the settings`(
        inTransaction: Bool
    ) async throws {
        let task = Task {
            let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1)", foreignKeys: !inTransaction)
            let before = try everything(in: db)
            if inTransaction { try db.query("BEGIN") }
            let endless = """
                (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)
                """
            let rebuild = TableRebuild("t", as: "CREATE TABLE t(a)", values: ["a": endless])
            withUnsafeCurrentTask { $0?.cancel() }
            let error = try sqlError { try rebuild.run(db) }
            return (error.code, before, db)
        }
        let (code, before, db) = try await task.value
        #expect(code == .cancelled)
        if inTransaction { try db.query("ROLLBACK") }
        #expect(try everything(in: db) == before)
    }
}
