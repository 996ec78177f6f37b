import AppMigrationsSQLite
import AppMigrationsSchema
import TestSupport
import Testing

@Suite(.temporaryDirectory) struct RebuildDependentTests {
    private let rebuild = TableRebuild("t", as: "CREATE TABLE t(a)", dropping: ["gone"])

    @Test func `indexes of every kind are made again from their text`() throws {
        let indexes = """
            CREATE UNIQUE INDEX one ON t(a);
            CREATE INDEX two ON t(b) WHERE b > 1 AND c <> 'gone';
            CREATE INDEX three ON t(a + length(b));
            CREATE INDEX "the fourth" ON t(c COLLATE NOCASE DESC, "a" ASC);
            CREATE INDEX main.five /* why */ ON T(B)
            """
        let db = try database(
            "CREATE TABLE t(a, b, c, gone); INSERT INTO t VALUES (1, 2, 'x', 0), (2, 3, 'X', 0); \(indexes)"
        )
        let list = "SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY rowid"
        let parts = """
            SELECT m.name, x.* FROM sqlite_master AS m, pragma_index_xinfo(m.name) AS x
            WHERE m.type = 'index' AND x.name IN ('a', 'b', 'c') ORDER BY 1, 2
            """
        let before = try db.query(list)
        #expect(before.count == 5)
        let columns = try db.query(parts)
        try TableRebuild("t", as: "CREATE TABLE t(a, b, c, d)", dropping: ["gone"]).run(db)
        #expect(try db.query(list) == before)
        #expect(try db.query(parts) == columns)
        #expect(try sqlError { try db.query("INSERT INTO t(a) VALUES (1)") }.extendedResultCode == 2067)
    }

    @Test(
        arguments: [
            "CREATE INDEX i ON t(gone)", "CREATE INDEX i ON t(a, [GONE] DESC)",
            "CREATE INDEX i ON t(\"gone\")", "CREATE INDEX i ON t('gone')",
            "CREATE INDEX i ON t(a) WHERE gone > 1", "CREATE INDEX i ON t(a) WHERE \"gone\" > 1",
            "CREATE INDEX i ON t(a || \"gone\")",
        ]
    )
    func `an index on a column that goes is refused unless it goes, too`(index: String) throws {
        let db = try database("CREATE TABLE t(a, gone); INSERT INTO t VALUES (1, 2); \(index)")
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.code == .refusedSchemaChange)
        #expect(
            error.description.lowercased()
                == ("Rebuilding the table t: The index i would no longer compile: no such column: gone."
                + " Nothing was changed. List the index in dropping.").lowercased()
        )
        try TableRebuild("t", as: "CREATE TABLE t(a)", dropping: ["gone", "I"]).run(db)
        #expect(try db.query("SELECT name FROM sqlite_master") == [["t"]])
    }

    @Test func `a unique index that rows no longer fit leaves everything`() throws {
        let db = try database(
            "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); CREATE UNIQUE INDEX i ON t(a)"
        )
        let error = try refused(db) {
            try TableRebuild("t", as: "CREATE TABLE t(a)", values: ["a": "7"]).run(db)
        }
        #expect(error.extendedResultCode == 2067)
    }

    @Test func `triggers do not fire during the copy, and are there afterwards`() throws {
        let db = try database(
            """
            CREATE TABLE log(x); CREATE TABLE u(x); CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (3, 4);
            CREATE VIEW v AS SELECT a, b FROM t;
            CREATE TRIGGER "my insert" AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('insert; of t'); END;
            CREATE TRIGGER del BEFORE DELETE ON T WHEN old.a > 0 BEGIN INSERT INTO log VALUES ('delete'); END;
            CREATE TRIGGER upd AFTER UPDATE OF a, b ON t BEGIN INSERT INTO log VALUES ('update'); END;
            CREATE TRIGGER other AFTER INSERT ON u BEGIN INSERT INTO t VALUES (new.x, 0); END;
            CREATE TRIGGER v_insert INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (new.a, new.b); END;
            CREATE TEMP TRIGGER passing AFTER INSERT ON main.t BEGIN INSERT INTO log VALUES ('temporary'); END;
            """
        )
        let list = """
            SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'
            UNION ALL SELECT name, tbl_name, sql FROM sqlite_temp_master ORDER BY 1
            """
        let before = try db.query(list)
        #expect(before.count == 6)
        try TableRebuild("t", as: "CREATE TABLE t(a, b)", values: ["b": "b + 1"]).run(db)
        #expect(try db.query(list) == before)
        #expect(try db.query("SELECT count(*) FROM log") == [[0]])
        try db.execute(
            script: "INSERT INTO u VALUES (9); INSERT INTO v VALUES (8, 8); DELETE FROM t; UPDATE t SET a = 0"
        )
        let log = try db.query("SELECT x, count(*) FROM log GROUP BY x ORDER BY x")
        #expect(log == [["delete", 4], ["insert; of t", 2], ["temporary", 2]])
    }

    @Test(
        arguments: [
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT new.gone; END",
            "CREATE TRIGGER r AFTER UPDATE ON t BEGIN SELECT old.gone; END",
            "CREATE TRIGGER r AFTER DELETE ON t WHEN old.gone > 0 BEGIN SELECT 1; END",
            "CREATE TRIGGER r AFTER INSERT ON u BEGIN UPDATE t SET gone = 1; END",
            "CREATE TRIGGER r AFTER INSERT ON u BEGIN SELECT \"gone\" FROM t; END",
            "CREATE TRIGGER r AFTER INSERT ON u BEGIN INSERT INTO t VALUES (1, 2); END",
            "CREATE TRIGGER r INSTEAD OF UPDATE ON v BEGIN UPDATE t SET gone = 1; END",
            "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT new.gone; END",
            "CREATE TEMP TRIGGER r AFTER INSERT ON u BEGIN SELECT gone FROM t; END",
        ]
    )
    func `a trigger that would no longer compile is an error`(trigger: String) throws {
        let db = try database(
            """
            CREATE TABLE t(a, gone); CREATE TABLE u(x); CREATE VIEW v AS SELECT a FROM t;
            CREATE TRIGGER fine AFTER INSERT ON u BEGIN SELECT "a", "never" FROM t; END; \(trigger);
            """
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.code == .brokenObject)
        #expect(
            error.description.hasPrefix("Rebuilding the table t: The trigger r would no longer compile: "),
            "\(error)"
        )
        #expect(error.description.hasSuffix("Nothing was changed. Change it first, or list it in dropping."))
    }

    @Test func `a trigger that would break is an error next to a broken temporary one of its name`() throws {
        let db = try database(
            """
            CREATE TABLE t(a, gone); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT new.gone; END;
            CREATE TEMP TRIGGER r AFTER INSERT ON main.t BEGIN INSERT INTO nowhere VALUES (1); END;
            """
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.code == .brokenObject)
        #expect(error.message.hasPrefix("Rebuilding the table t: The trigger r would no longer compile: "))
    }

    @Test func `a trigger that waits for updates of a column that goes is refused`() throws {
        let db = try database(
            "CREATE TABLE t(a, gone); CREATE TRIGGER r AFTER UPDATE OF a, Gone ON t BEGIN SELECT 1; END"
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(
            error.description
                == "Rebuilding the table t: The trigger r fires on updates of the column Gone, which"
                + " the new table doesn't have. Nothing was changed. List the trigger in dropping, and create it again afterwards."
        )
        try TableRebuild("t", as: "CREATE TABLE t(a)", dropping: ["gone", "r"]).run(db)
        #expect(try db.query("SELECT name FROM sqlite_master") == [["t"]])
    }

    @Test(
        arguments: [
            "CREATE VIEW v AS SELECT gone FROM t", "CREATE VIEW v AS SELECT \"gone\" FROM t",
            "CREATE VIEW v AS SELECT a FROM t WHERE t.\"GONE\" > 1", "CREATE VIEW v(x, y) AS SELECT * FROM t",
            "CREATE TEMP VIEW v AS SELECT gone FROM t",
        ]
    )
    func `a view that would no longer compile is an error`(view: String) throws {
        let db = try database("CREATE TABLE t(a, gone); INSERT INTO t VALUES (1, 2); \(view)")
        let error = try refused(db) { try rebuild.run(db) }
        #expect(error.code == .brokenObject)
        #expect(error.description.hasPrefix("Rebuilding the table t: The view v would no longer compile: "))
    }

    @Test func `views on views stay, those named go, those broken before stay broken`() throws {
        let db = try database(
            """
            CREATE TABLE t(a, gone); INSERT INTO t VALUES (1, 2); CREATE VIEW v AS SELECT a FROM t;
            CREATE VIEW w AS SELECT a AS b FROM v; CREATE VIEW x AS SELECT gone FROM t;
            CREATE VIEW nope AS SELECT * FROM nowhere; CREATE VIEW texts AS SELECT "never" FROM t;
            CREATE TRIGGER lost AFTER INSERT ON t BEGIN INSERT INTO nowhere VALUES (1); END;
            CREATE TRIGGER fine AFTER INSERT ON t BEGIN SELECT a FROM t; END;
            """
        )
        try TableRebuild("t", as: "CREATE TABLE t(a, c)", dropping: ["gone", "x"]).run(db)
        #expect(try db.query("SELECT b FROM w") == [[1]])
        #expect(
            try db.query("SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY name")
                == [["fine"], ["lost"], ["nope"], ["texts"], ["v"], ["w"]]
        )
    }

    @Test func `a trigger that breaks beside one broken before is found`() throws {
        let db = try database(
            """
            CREATE TABLE t(a, gone);
            CREATE TRIGGER lost AFTER INSERT ON t BEGIN INSERT INTO nowhere VALUES (1); END;
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT new.gone; END;
            """
        )
        let error = try refused(db) { try rebuild.run(db) }
        #expect(
            error.description
                == "Rebuilding the table t: The trigger r would no longer compile: no such column: new.gone."
                + " Nothing was changed. Change it first, or list it in dropping."
        )
    }

    /// An app that deletes the rows of all tables, also of an index's own, leaves such an index.
    @Test(arguments: [false, true])
    func `a full-text index that can't be opened doesn't keep other tables from a rebuild`(
        isForeign: Bool
    ) throws {
        let path = TemporaryDirectory.current.file("db.sqlite")
        let first = try SQLiteConnection(path: path)
        try first.execute(
            script: """
                CREATE TABLE t(a, gone); INSERT INTO t VALUES (1, 2);
                CREATE TABLE tag(id INTEGER PRIMARY KEY, name); INSERT INTO tag VALUES (1, 'x');
                CREATE VIRTUAL TABLE tag_index USING fts5(name, content=tag, content_rowid=id);
                CREATE TRIGGER tag_insert AFTER INSERT ON tag
                BEGIN INSERT INTO tag_index(rowid, name) VALUES (new.id, new.name); END;
                CREATE VIEW tag_names AS SELECT name FROM tag_index;
                CREATE TRIGGER names_update INSTEAD OF UPDATE ON tag_names BEGIN SELECT 1; END;
                DELETE FROM tag_index_data; DELETE FROM tag_index_idx; DELETE FROM tag_index_config;
                """
        )
        first.close()
        let db = try SQLiteConnection(path: path)
        #expect(try sqlError { try db.query("SELECT * FROM tag_index") }.extendedResultCode == 267)
        if isForeign { try rebuild.run(Foreign(db: db)) } else { try rebuild.run(db) }
        #expect(try db.query("SELECT * FROM t") == [[1]])
        // An index of the table itself is another matter.
        let createTable = "CREATE TABLE tag(id INTEGER PRIMARY KEY, name)"
        let tags = TableRebuild("tag", as: createTable, values: ["name": "'y'"])
        #expect(try sqlError { try tags.run(db) }.message.contains("tag_index"))
    }
}
