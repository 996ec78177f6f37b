import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

@Suite struct SchemaFormTests {
    /// The ways to write the name of a constraint, `%` in a statement.
    private static let constraintNames = ["c", "\"c\"", "`c`", "[c]", "'c'", "\"C\""]

    @Test(arguments: [
        "CREATE TABLE t(a CONSTRAINT % CHECK (a > 0))",
        "CREATE TABLE t(a CONSTRAINT % NOT NULL DEFAULT 1)",
        "CREATE TABLE t(a CONSTRAINT % UNIQUE, c)",
        "CREATE TABLE t(a, CONSTRAINT % PRIMARY KEY (a))",
        "CREATE TABLE t(a, CONSTRAINT % UNIQUE (a), CHECK (a > 1))",
        "CREATE TABLE t(a, CONSTRAINT % FOREIGN KEY (a) REFERENCES t(a) ON DELETE CASCADE)",
        "CREATE TABLE t(a CONSTRAINT % REFERENCES t)",
        "CREATE TABLE t(a CONSTRAINT % COLLATE nocase)",
        "CREATE TABLE t(a CONSTRAINT % DEFAULT 'c')",
        "CREATE TABLE t(a CONSTRAINT % CHECK (a <> 'c') CONSTRAINT d CHECK (a <> \"e\"), e)",
        "CREATE TABLE t(a CONSTRAINT % CONSTRAINT \"d\" NOT NULL DEFAULT 0)",
        "CREATE TABLE t(a INT, b INT AS (a) CONSTRAINT % CHECK (b > 0)) STRICT",
    ])
    func `quotes of a constraint's name make no difference`(statement: String) throws {
        for first in Self.constraintNames {
            let db = try database(statement.replacing("%", with: first))
            for second in Self.constraintNames {
                let plan = try SchemaPlan(from: db, to: statement.replacing("%", with: second))
                #expect("\(plan)" == "Nothing needs to be done: the database has the target's schema.")
            }
            let other = try SchemaPlan(from: db, to: statement.replacing("%", with: "other"))
            #expect(other.steps.map(\.description) == ["rebuild the table t"])
        }
    }

    @Test(arguments: [
        (
            "CREATE TABLE t(a CONSTRAINT key CHECK (a > 0))",
            "CREATE TABLE t(a CONSTRAINT \"key\" CHECK (a > 0))"
        ),
        ("CREATE TABLE t(a COLLATE \"nocase\")", "CREATE TABLE t(a COLLATE NOCASE)"),
        ("CREATE TABLE t(a REFERENCES \"p\"(\"id\"))", "CREATE TABLE t(a REFERENCES p([id]))"),
        (
            "CREATE TABLE t(a, b, FOREIGN KEY (a, b) REFERENCES p(\"x\", \"y\"))",
            "CREATE TABLE t(a, b, FOREIGN KEY (a, b) REFERENCES [p](x, y))"
        ),
        ("CREATE TABLE t(a CHECK (\"length\"(a) > 0))", "CREATE TABLE t(a CHECK (length(a) > 0))"),
        (
            "CREATE TABLE t(a); CREATE VIEW v(\"x\") AS SELECT a FROM t",
            "CREATE TABLE t(a); CREATE VIEW v(x) AS SELECT a FROM t"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS \"x\" FROM t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS [x] FROM t"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS \"end\" FROM t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS end FROM t"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT \"x\".a FROM t AS \"x\"",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT x.a FROM t AS x"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS WITH \"x\"(b) AS (SELECT a FROM t) SELECT b FROM x",
            "CREATE TABLE t(a); CREATE VIEW v AS WITH x(b) AS (SELECT a FROM t) SELECT b FROM x"
        ),
        (
            "CREATE TABLE t(a); CREATE INDEX \"i\" ON \"t\"(\"a\" COLLATE \"rtrim\")",
            "CREATE TABLE t(a); CREATE INDEX i ON t(a COLLATE rtrim)"
        ),
        (
            "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT \"new\".\"a\"; END",
            "CREATE TABLE t(a); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT new.a; END"
        ),
    ])
    func `quotes make no difference where only a name can be`(from: String, to: String) throws {
        for (from, to) in [(from, to), (to, from)] {
            #expect(try SchemaPlan(from: database(from), to: to).steps.map(\.description) == [])
        }
    }

    @Test(arguments: [
        ("CREATE TABLE t(a DEFAULT \"x\")", "CREATE TABLE t(a DEFAULT [x])"),
        ("CREATE TABLE t(a CHECK (a <> \"x\"))", "CREATE TABLE t(a CHECK (a <> \"X\"))"),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT \"x\" FROM t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT x FROM t"
        ),
        (
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS \"x\" FROM t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a AS \"X\" FROM t"
        ),
    ])
    func `a word in double quotes that may be a text is not a name`(from: String, to: String) throws {
        #expect(try !SchemaPlan(from: database(from), to: to).steps.isEmpty)
    }

    @Test func `the case of a type makes no difference after the table of its name is renamed`() throws {
        let db = try database("CREATE TABLE Text(id INTEGER); CREATE TABLE t(a Text)")
        let target = "CREATE TABLE notes(id INTEGER); CREATE TABLE t(a TEXT)"
        let plan = try SchemaPlan(from: db, to: target, hints: .init(renamedTables: ["Text": "notes"]))
        #expect(plan.steps.map(\.description) == ["rename the table Text to notes"])
        try plan.apply(db)
        #expect(try SchemaPlan(from: db, to: target).steps.isEmpty)
    }
}
