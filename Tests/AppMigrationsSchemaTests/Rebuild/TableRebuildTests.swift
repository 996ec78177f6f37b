import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct TableRebuildTests {
    @Test(arguments: Kept.rowIDs + Kept.counters + Kept.columns, [false, true])
    func `a table made anew keeps`(_ kept: Kept, isForeign: Bool) throws {
        let db = try database(kept.before)
        let (values, dropping) = (kept.values, kept.dropping)
        let rebuild = TableRebuild(kept.table, as: kept.createTable, values: values, dropping: dropping)
        if isForeign { try rebuild.run(Foreign(db: db)) } else { try rebuild.run(db) }
        try db.execute(script: kept.then)
        #expect(try db.query(kept.query) == kept.rows)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try db.query("PRAGMA legacy_alter_table") == [[0]])
        #expect(try db.query("PRAGMA integrity_check") == [["ok"]])
        #expect(!(try tables(in: db).contains { $0.hasPrefix("app_migrations") }))
    }

    @Test func `rows that refer to the table stay, whatever would happen on a deletion`() throws {
        let db = try database(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, parent REFERENCES p(id) ON DELETE CASCADE, name);
            CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id) ON DELETE CASCADE);
            CREATE TABLE n(id INTEGER PRIMARY KEY, p REFERENCES P ON DELETE SET NULL);
            INSERT INTO p VALUES (1, NULL, 'x'), (2, 1, 'y'); INSERT INTO c VALUES (10, 1); INSERT INTO n VALUES (20, 2);
            """
        )
        try TableRebuild(
            "p",
            as:
                "CREATE TABLE p(id INTEGER PRIMARY KEY, parent REFERENCES p(id) ON DELETE CASCADE, name TEXT NOT NULL)",
            values: ["name": "name"]
        ).run(db)
        #expect(try db.query("SELECT * FROM p") == [[1, nil, "x"], [2, 1, "y"]])
        #expect(try db.query("SELECT * FROM c UNION ALL SELECT * FROM n") == [[10, 1], [20, 2]])
        let tables = try db.query(#"SELECT "table" FROM pragma_foreign_key_list('c')"#)
        #expect(tables == [["p"]])
        try db.query("DELETE FROM p WHERE id = 1")
        #expect(try db.query("SELECT * FROM p UNION ALL SELECT *, 0 FROM c") == [])
        #expect(try db.query("SELECT * FROM n") == [[20, nil]])
    }

    @Test func `rows that referred to none before are tolerated, new ones are not`() throws {
        let script = """
            CREATE TABLE p(id INTEGER PRIMARY KEY, key TEXT UNIQUE); CREATE TABLE c(p REFERENCES p(key));
            INSERT INTO p VALUES (1, 'a'); INSERT INTO c VALUES ('a'), ('lost');
            """
        let createTable = "CREATE TABLE p(id INTEGER PRIMARY KEY, key TEXT UNIQUE, more)"
        let db = try database(script, foreignKeys: false)
        try db.query("PRAGMA foreign_keys = ON")
        try TableRebuild("p", as: createTable).run(db)
        let error = try refused(db) {
            try TableRebuild("p", as: createTable, values: ["key": "key || '!'"]).run(db)
        }
        #expect(error.code == .foreignKeyViolation)
        #expect(
            error.description
                == "Rebuilding the table p: This would leave rows that refer to missing rows: c (rowid 1) refers to"
                + " a missing row of p. The table and its rows are as they were."
                + " It was rolled back. Delete or fix these rows in it, or insert the rows that they refer to."
        )
    }

    @Test(arguments: ["", " WITHOUT ROWID"])
    func `what ANALYZE had looked at is looked at again`(options: String) throws {
        let db = try database(
            """
            CREATE TABLE t(a PRIMARY KEY, b UNIQUE, c)\(options); CREATE INDEX i ON t(b, c); CREATE TABLE u(a);
            INSERT INTO t VALUES (1, 2, 3), (4, 5, 3); INSERT INTO u VALUES (1); ANALYZE; PRAGMA analysis_limit = 7
            """
        )
        let statistics = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx"
        let before = try db.query(statistics)
        try TableRebuild("t", as: "CREATE TABLE t(a PRIMARY KEY, b UNIQUE, c, d)\(options)").run(db)
        #expect(try db.query(statistics) == before)
        #expect(try db.query("PRAGMA analysis_limit") == [[7]])
    }

    @Test(arguments: [0, 500, 3_000], ["CREATE TABLE t(a, b)", "CREATE TABLE t(a, b CHECK (a > 1))"])
    func `as many pages may change in memory as before`(pages: Int64, target: String) throws {
        let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1); PRAGMA cache_spill = \(pages)")
        var rooms = Set<[[SQLValue]]>()
        let other = OtherConnection(db) {
            if $0 == target { rooms.insert(try db.query("PRAGMA cache_spill")) }
        }
        _ = Result { try TableRebuild("t", as: target).run(db) }
        #expect(try db.query("PRAGMA cache_spill") == [[.integer(pages)]])
        _ = Result { try TableRebuild("t", as: target).run(other) }
        #expect(try db.query("PRAGMA cache_spill") == [[.integer(pages)]])
        #expect(rooms == [[[.integer(pages == 0 ? 0 : max(pages, 2_000))]]])
    }

    @Test func `another library's connection reads no bytes as a text while triggers are compiled`() throws {
        let db = try database(
            "CREATE TABLE t(a, b BLOB DEFAULT x'ff'); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END"
        )
        try TableRebuild("t", as: "CREATE TABLE t(a, c, b BLOB DEFAULT x'ff')").run(Foreign(db: db))
    }

    @Test(
        arguments: [
            (false, "The change itself was committed.", [1, nil]),
            (true, "The table and its rows are as they were.", [1]),
        ] as [(Bool, String, [SQLValue])]
    )
    func `a pragma that can't be set back undoes a change in a transaction, and not one that is committed`(
        inTransaction: Bool,
        outcome: String,
        row: [SQLValue]
    ) throws {
        let db = try database("CREATE TABLE t(a); INSERT INTO t VALUES (1)", foreignKeys: !inTransaction)
        if inTransaction { try db.query("BEGIN") }
        let failing = OtherConnection(db) { sql in
            guard sql == "PRAGMA legacy_alter_table = OFF" else { return }
            throw OtherConnection.Failure(description: "disk I/O error")
        }
        let error = try sqlError { try TableRebuild("t", as: "CREATE TABLE t(a, b)").run(failing) }
        #expect(error.description == "Rebuilding the table t: disk I/O error. \(outcome)")
        if inTransaction { try db.query("COMMIT") }
        #expect(try db.query("SELECT * FROM t") == [row])
        #expect(try db.query("PRAGMA foreign_keys") == [[inTransaction ? 0 : 1]])
    }
}

/// A connection that has no more than the protocol asks for, and gives numbers as texts of digits, as libpq does.
struct Foreign: SQLConnection {
    static var dialect: SQLDialect { .sqlite }

    let db: SQLiteConnection

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] {
        try db.query(sql, arguments).map { row in
            row.map { if case .integer(let number) = $0 { .text("\(number)") } else { $0 } }
        }
    }

    func execute(script: String) throws { try db.execute(script: script) }
}
