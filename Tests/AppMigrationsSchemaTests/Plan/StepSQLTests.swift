import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct StepSQLTests {
    /// The schema, the rows with their row ids, and the counters of AUTOINCREMENT.
    private func content(of db: SQLiteConnection) throws -> [[SQLValue]] {
        var rows = try db.query(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name"
        )
        let tables = try db.query(
            """
            SELECT name, wr OR name = 'sqlite_sequence' FROM pragma_table_list
            WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'
            AND name NOT LIKE 'sqlite_stat%' ORDER BY name
            """
        )
        for table in tables {
            guard case .text(let name) = table[0] else { continue }
            let rowID = table[1] == 0 ? "rowid, " : ""
            rows += try db.query(
                "SELECT \(rowID)* FROM main.\"\(name.replacing("\"", with: "\"\""))\" ORDER BY 1"
            ).map {
                [table[0]] + $0
            }
        }
        return rows
    }

    private func check(
        _ sql: String,
        _ target: String,
        hints: SchemaPlan.Hints,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let (applied, scripted, stepped) = (try database(sql), try database(sql), try database(sql))
        let plan = try SchemaPlan(from: applied, to: target, hints: hints)
        #expect(plan.steps.allSatisfy { $0.sql.hasSuffix(";\n") }, "\(plan.sql)", sourceLocation: location)
        #expect(plan.sql.isEmpty == plan.steps.isEmpty, sourceLocation: location)
        try plan.apply(applied)
        try scripted.execute(script: plan.sql)
        try stepped.query("PRAGMA foreign_keys = OFF")
        for step in plan.steps { try stepped.execute(script: step.sql) }
        let expected = try content(of: applied)
        for db in [scripted, stepped] {
            #expect(try content(of: db) == expected, "\(plan.sql)", sourceLocation: location)
            #expect(try db.query("PRAGMA legacy_alter_table") == [[0]], sourceLocation: location)
            let second = try SchemaPlan(from: db, to: target, hints: hints)
            #expect(second.steps.map(\.description) == [], "\(plan.sql)", sourceLocation: location)
            // From SQLite 3.44 on, the check complains of some full-text indexes that are as they should be.
            let complaints = try applied.query("PRAGMA integrity_check")
            #expect(try db.query("PRAGMA integrity_check") == complaints, sourceLocation: location)
        }
    }

    @Test(arguments: SchemaPair.all)
    func `a plan's SQL does what the plan does`(_ pair: SchemaPair) throws {
        try check(pair.from, pair.to, hints: pair.hints)
    }

    @Test(arguments: IndexPair.filled)
    func `the SQL of a plan that makes an index fills it`(_ pair: IndexPair) throws {
        try check(pair.from, pair.to, hints: pair.hints)
    }

    @Test(arguments: BrokenRename.all)
    func `the SQL of a plan renames beside what was broken before`(_ rename: BrokenRename) throws {
        try check(rename.from, rename.to, hints: rename.hints)
    }

    @Test(arguments: [
        // A counter that is higher than every row.
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (3, 1), (9, 2); DELETE FROM t WHERE id = 9",
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE)"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (9, 2); DELETE FROM t",
            "CREATE TABLE T(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE)"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, CHECK (t.id > 0)); INSERT INTO t VALUES (3, 1), (9, 2);"
                + " DELETE FROM t WHERE id = 9",
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, CHECK (t.id > 0))"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, CHECK (t.id > 0)); INSERT INTO t VALUES (9, 2); DELETE FROM t",
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE)"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO t VALUES (9, 2)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)"
        ),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (9, 2)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE)"
        ),
        // Rows that keep their row ids.
        ("CREATE TABLE t(a); INSERT INTO t(rowid, a) VALUES (5, 1), (3, 2)", "CREATE TABLE t(a UNIQUE)"),
        (
            "CREATE TABLE t(a, CHECK (t.a > 0)); INSERT INTO t(rowid, a) VALUES (5, 1), (3, 2)",
            "CREATE TABLE t(a UNIQUE, CHECK (t.a > 0))"
        ),
        // What belongs to the table, and what comes and goes with it.
        (
            """
            CREATE TABLE t(a, b); CREATE INDEX i ON t(a) WHERE b > 0; CREATE UNIQUE INDEX j ON t(b);
            CREATE VIEW v AS SELECT a FROM t; CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = new.b; END;
            CREATE TRIGGER s INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE a = old.a; END; INSERT INTO t VALUES (1, 2)
            """,
            """
            CREATE TABLE t(a, b CHECK (b > 1)); CREATE INDEX i ON t(a) WHERE b > 0; CREATE INDEX k ON t(b);
            CREATE VIEW v AS SELECT a FROM t; CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = new.b; END;
            CREATE TRIGGER s INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE a = old.a; END
            """
        ),
        // Names and comments of every kind.
        (
            "CREATE TABLE \"a'b\"(\"x\"\"y\"); INSERT INTO \"a'b\" VALUES ('it''s')",
            "CREATE TABLE \"a'b\"(\"x\"\"y\" UNIQUE /* here */); CREATE VIEW v AS SELECT 1 -- ends"
        ),
        (
            "CREATE TABLE p(id INTEGER PRIMARY KEY, a); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE); INSERT INTO p VALUES (1, 2);"
                + " INSERT INTO c VALUES (1)",
            "CREATE TABLE p(id INTEGER PRIMARY KEY, a UNIQUE); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE)"
        ),
        (
            "CREATE TABLE t(k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO t VALUES ('b', 1), ('a', 2)",
            "CREATE TABLE t(k PRIMARY KEY, v UNIQUE, w AS (v + 1)) WITHOUT ROWID"
        ),
    ])
    func `the SQL of a rebuild keeps what the rebuild keeps`(from: String, to: String) throws {
        try check(from, to, hints: .init())
    }

    @Test(arguments: [
        "a || '!'", "(SELECT max(a) FROM t)", "(SELECT count(*) FROM u)", "coalesce(b, a) -- as before",
        "nullif(a, 'x')",
    ])
    func `the SQL of a rebuild has the expressions of the hints`(expression: String) throws {
        let hints = SchemaPlan.Hints(values: ["t": ["c": expression]])
        let rows = "INSERT INTO t VALUES ('x', NULL), ('y', 2); INSERT INTO u VALUES (1), (2);"
        try check(
            "CREATE TABLE t(a, b); CREATE TABLE u(x); \(rows)",
            "CREATE TABLE t(a, b, c); CREATE TABLE u(x UNIQUE)",
            hints: hints
        )
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `the SQL of a plan between random schemas does what the plan does`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 900)
        let before = RandomSchema.random(&random)
        let after = before.changed(&random)
        let db = try database(before.sql)
        var hints = SchemaPlan.Hints()
        for question in try SchemaPlan(from: db, to: after.sql).questions {
            let (table, column) = (question.table, question.column ?? "")
            switch question.kind {
            case .droppedColumn, .generatedColumn: hints.droppedColumns[table, default: []].insert(column)
            case .missingValue: hints.values[table, default: [:]][column] = "id"
            case .emptyValues, .convertedValues:
                hints.values[table, default: [:]][column] = "coalesce(`\(column)`, id)"
            default: hints.droppedTables.insert(table)
            }
        }
        try check(before.sql, after.sql, hints: hints)
    }

    @Test func `a step and a plan show their SQL`() throws {
        let db = try database(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t(a); CREATE TABLE old(x)"
        )
        let plan = try SchemaPlan(
            from: db,
            to:
                "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); CREATE INDEX i ON t(a); CREATE TABLE new(x, y)",
            hints: .init(renamedTables: ["old": "new"])
        )
        #expect(
            plan.sql == """
                PRAGMA foreign_keys = OFF;
                BEGIN IMMEDIATE;
                -- rename the table old to new
                ALTER TABLE main."old" RENAME TO "new";
                -- rebuild the table t
                PRAGMA legacy_alter_table = ON;
                ALTER TABLE main."t" RENAME TO app_migrations_1;
                PRAGMA legacy_alter_table = OFF;
                DROP INDEX main."i";
                CREATE TABLE main.t(id INTEGER PRIMARY KEY, a UNIQUE);
                INSERT OR FAIL INTO main."t"("id", "a") SELECT "id", "a" FROM main.app_migrations_1 AS "t";
                CREATE INDEX main.i ON t(a);
                DROP TABLE main.app_migrations_1;
                -- add the column y to the table new
                ALTER TABLE main."new" ADD COLUMN y;
                COMMIT;

                """
        )
        #expect(plan.steps[2].sql == "ALTER TABLE main.\"new\" ADD COLUMN y;\n")
        #expect(try SchemaPlan(from: db, to: "CREATE TABLE t(a)").sql == "")
    }

    @Test func `a rebuild that can't be shown says why`() throws {
        let db = try AppRegistrations.database(
            "CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING fts5(a, tokenize='app_tok')"
        )
        let hints = SchemaPlan.Hints(droppedTables: ["f"])
        let plan = try SchemaPlan(from: db, to: "CREATE TABLE t(a UNIQUE)", hints: hints)
        #expect(
            plan.steps.map(\.sql) == [
                "-- rebuild the table t: this can't be shown as SQL: no such tokenizer: app_tok. Register it on each"
                    + " private connection in the preparing closure\n",
                "DROP TABLE main.\"f\";\n",
            ]
        )
        let prepared = try SchemaPlan(
            from: db,
            to: "CREATE TABLE t(a UNIQUE)",
            hints: hints,
            preparing: AppRegistrations.register
        )
        #expect(
            prepared.steps[0].sql.hasPrefix(
                "PRAGMA legacy_alter_table = ON;\nALTER TABLE main.\"t\" RENAME TO "
            )
        )
    }
}
