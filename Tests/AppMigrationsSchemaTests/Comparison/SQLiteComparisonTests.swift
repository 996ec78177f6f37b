import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

struct SQLiteComparisonTests {
    private static let notes = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, changed_at REAL)"

    private static let contentWithFunction =
        "CREATE TABLE c(a CHECK (abs(a))); CREATE TABLE f_stat(a); CREATE VIRTUAL TABLE f USING fts4(content=c);"
    private static let callsFunction =
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'abs', 'app') WHERE name = 'c'"

    /// Makes a database of each script and compares the second with the first.
    private func difference(_ expected: String, _ found: String, ignoring names: [String] = []) throws
        -> String?
    {
        try withTemporaryFolder { folder in
            for (name, script) in [("expected", expected), ("found", found)] {
                try SQLiteConnection(path: "\(folder)/\(name)").execute(script: script)
            }
            return try SQLiteComparison(ignoring: names)
                .difference(expected: folder + "/expected", found: folder + "/found")
        }
    }

    @Test(arguments: OtherLedger.all)
    func `the ledger of another tool isn't compared`(ledger: OtherLedger) throws {
        let emptied = "\(ledger.script); DELETE FROM \(ledger.table)"
        for (one, other) in [(ledger.script, emptied), (ledger.script, ""), ("", ledger.script)] {
            #expect(try difference("\(Self.notes); \(one)", "\(Self.notes); \(other)") == nil)
        }
        let added = "\(ledger.script); ALTER TABLE \(ledger.table) ADD COLUMN more"
        #expect(try difference(Self.notes, "\(Self.notes); \(added)") != nil)
    }

    @Test(arguments: OtherLedger.all)
    func `a plan leaves the ledger of another tool, unless the target has it`(ledger: OtherLedger) throws {
        let db = try memory()
        try db.execute(script: "\(Self.notes); \(ledger.script)")
        let created = ledger.script.split(separator: "INSERT")[0]
        for target in [Self.notes, "\(Self.notes); \(created)"] {
            #expect(try SchemaPlan(from: db, to: target).steps.isEmpty)
        }
        #expect(try db.query("SELECT count(*) FROM \(ledger.table)") == [[1]])
    }

    @Test(arguments: ["INTEGER", "bigint"])
    func `the ledger of FMDBMigrationManager is compared, because it is this library's, too`(type: String)
        throws
    {
        let ledger = "CREATE TABLE schema_migrations(version \(type) UNIQUE NOT NULL)"
        let rows = "; INSERT INTO schema_migrations VALUES (1)"
        #expect(try difference(ledger + rows, ledger) != nil)
    }

    @Test(
        arguments: [
            // As ALTER TABLE leaves it.
            (
                notes + "; INSERT INTO notes VALUES (1, 'a', 0.5), (2, 'b', NULL)",
                """
                create table old(id integer primary key, "title" text); -- made by 1.0
                INSERT INTO old VALUES (2, 'b'), (1, 'a');
                ALTER TABLE old ADD COLUMN changed_at REAL;
                ALTER TABLE old RENAME TO notes;
                UPDATE notes SET changed_at = 0.5 WHERE id = 1
                """
            ),
            // Rows have no order of their own.
            (
                "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)",
                "CREATE TABLE t(a); INSERT INTO t VALUES (2), (1)"
            ),
            // Tables of SQLite's own and of this library are not compared.
            (
                "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (3)",
                """
                CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (9), (3);
                DELETE FROM t WHERE a = 9; ANALYZE; CREATE TABLE app_migrations (manager TEXT, version TEXT)
                """
            ),
            (
                "CREATE TABLE schema_migrations (version INTEGER, applied_at TEXT); INSERT INTO schema_migrations VALUES (1, 'x')",
                "CREATE TABLE schema_migrations (version INTEGER, applied_at TEXT); INSERT INTO schema_migrations VALUES (1, 'y')"
            ),
            // A virtual table's data, laid out in another order.
            (
                "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('one'), ('two')",
                "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('one'), ('x'); INSERT INTO f VALUES ('two'); DELETE FROM f WHERE a = 'x'"
            ),
        ]
    )
    func `databases that hold the same are equal`(expected: String, found: String) throws {
        #expect(try difference(expected, found) == nil)
    }

    @Test(
        arguments: [
            (notes, notes + "; CREATE TABLE t(a)", "has the table t, which should not be there"),
            ("CREATE TABLE t(a); CREATE INDEX i ON t(a)", "CREATE TABLE t(a)", "lacks the index i"),
            (
                "CREATE TABLE t\u{E9}(a); CREATE TABLE te\u{301}(a)", "CREATE TABLE te\u{301}(a)",
                "lacks the table t\u{E9}"
            ),
            (
                "CREATE TABLE t(a CHECK (a > 0))", "CREATE TABLE t(a)",
                "has a different table t: CREATE TABLE t(a) and not CREATE TABLE t(a CHECK (a > 0))"
            ),
            (
                "CREATE TABLE t(a DEFAULT 'X')", "CREATE TABLE t(a DEFAULT 'x')",
                "has a different table t: "
                    + "… TABLE t(a DEFAULT 'x') and not … TABLE t(a DEFAULT 'X')"
            ),
            ("PRAGMA user_version = 4", "PRAGMA user_version = 3", "has the user_version 3 and not 4"),
            ("PRAGMA application_id = 4", "PRAGMA application_id = 3", "has the application_id 3 and not 4"),
            (
                "CREATE TABLE t(key)", "CREATE TABLE t(KEY)",
                "has a different table t: CREATE TABLE t(KEY) and not CREATE TABLE t(key)"
            ),
            (
                notes + "; INSERT INTO notes VALUES (1, 'a', 0), (2, 'b', 0)",
                notes + "; INSERT INTO notes VALUES (2, 'b', 0)",
                "lacks a row of notes: (id 1, title 'a', changed_at 0.0)"
            ),
            (
                "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
                "CREATE TABLE t(a); INSERT INTO t VALUES (1), (1)",
                "has a row of t that should not be there: (a 1)"
            ),
            (
                "CREATE TABLE t(a); INSERT INTO t VALUES ('1')",
                "CREATE TABLE t(a); INSERT INTO t VALUES (1)",
                "has the row of t (a 1) and not (a '1')"
            ),
            (
                "CREATE TABLE t(a); INSERT INTO t VALUES (x'00FF')",
                "CREATE TABLE t(a); INSERT INTO t VALUES (NULL)",
                "has the row of t (a NULL) and not (a x'00ff')"
            ),
            // Tables of the app with the names of shadow tables.
            (
                "CREATE VIRTUAL TABLE f USING fts5(a, content=''); CREATE TABLE f_content(a); INSERT INTO f_content VALUES (1), (2)",
                "CREATE VIRTUAL TABLE f USING fts5(a, content=''); CREATE TABLE f_content(a)",
                "lacks a row of f_content: (a 1)"
            ),
            (
                "CREATE TABLE f_content(a); CREATE VIRTUAL TABLE f USING fts5(a, content='f_content')",
                "CREATE TABLE f_content(a, b); CREATE VIRTUAL TABLE f USING fts5(a, content='f_content')",
                "has a different table f_content: …TE TABLE f_content(a, b) and not …TE TABLE f_content(a)"
            ),
            // The index takes its columns from a table whose statement can't be run without a function of the app.
            (
                Self.contentWithFunction + "INSERT INTO f_stat VALUES (1), (2);" + Self.callsFunction,
                Self.contentWithFunction + "INSERT INTO f_stat VALUES (1);" + Self.callsFunction,
                "lacks a row of f_stat: (a 2)"
            ),
            // A long text is shown from a little before the place.
            (
                notes
                    + "; INSERT INTO notes VALUES (1, 'First of all, the things that matter' || char(10) || 'a', 0)",
                notes
                    + "; INSERT INTO notes VALUES (1, 'First of all, the things that matter' || char(10) || 'b', 1)",
                #"has a different row of notes with id 1: title … things that matter\nb' and not … things that matter\na', "#
                    + "changed_at 1.0 and not 0.0"
            ),
            // One letter, written in two ways.
            (
                "CREATE TABLE t(a); INSERT INTO t VALUES (char(233))",
                "CREATE TABLE t(a); INSERT INTO t VALUES ('e' || char(769))",
                "has the row of t (a 'e\u{301}') and not (a '\u{E9}')"
            ),
        ]
    )
    func `what differs is told in plain words`(expected: String, found: String, text: String) throws {
        #expect(try difference(expected, found).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test func `tables and columns that may differ are passed over`() throws {
        let expected = Self.notes + "; CREATE TABLE cache(a); INSERT INTO notes VALUES (1, 'a', 1); "
        let found =
            Self.notes + "; CREATE TABLE cache(a); INSERT INTO notes VALUES (1, 'a', 2); "
            + "INSERT INTO cache VALUES (1)"
        #expect(try difference(expected, found) == "has a row of cache that should not be there: (a 1)")
        #expect(try difference(expected, found, ignoring: ["Cache", "notes.changed_AT"]) == nil)
    }

    @Test func `a database that is not there is an error, and is not made`() throws {
        try withTemporaryFolder { folder in
            let error = try sqlError {
                try SQLiteComparison().difference(expected: folder + "/a", found: folder + "/b")
            }
            #expect(error.code == .cannotOpen)
            #expect(
                try sqlError { try SQLiteConnection(path: folder + "/a", readOnly: true) }.code == .cannotOpen
            )
        }
    }
}
