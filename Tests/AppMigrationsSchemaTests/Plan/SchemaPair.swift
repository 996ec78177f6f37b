import AppMigrationsSQLite
import AppMigrationsSchema
import Testing

/// Two schemas, and the steps from one to the other.
struct SchemaPair: Sendable, CustomTestStringConvertible {
    let name: String
    let from: String
    let to: String
    var hints = SchemaPlan.Hints()
    let steps: [String]
    /// A query and its rows afterwards, for a pair that changes rows.
    var query = "SELECT 1"
    var rows: [[SQLValue]] = [[1]]

    var testDescription: String { name }

    init(
        _ name: String,
        _ from: String,
        _ to: String,
        _ steps: [String] = [],
        hints: SchemaPlan.Hints = .init(),
        query: String = "SELECT 1",
        rows: [[SQLValue]] = [[1]]
    ) {
        (self.name, self.from, self.to, self.steps) = (name, from, to, steps)
        (self.hints, self.query, self.rows) = (hints, query, rows)
    }

    static let all = same + made + added + redefined + rebuilt + answered + shadowNamed

    static let same = [
        SchemaPair("nothing and nothing", "", ""),
        SchemaPair("the same", "CREATE TABLE t(a)", "CREATE TABLE t(a)"),
        SchemaPair(
            "blanks and comments",
            "CREATE TABLE t(a, b TEXT)",
            "create  table\n t ( a -- first\n , /* second */ b TEXT ) ;"
        ),
        SchemaPair(
            "keywords and types in another case",
            "create table t(a text not null)",
            "CREATE TABLE t(a TEXT NOT NULL)"
        ),
        SchemaPair(
            "quotes",
            "CREATE TABLE \"t\"(\"a\", [b], `select`)",
            "CREATE TABLE t(a, \"b\", [select])"
        ),
        SchemaPair(
            "triggers with semicolons and END inside",
            """
            CREATE TABLE t(a);
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT CASE a WHEN 1 THEN 2 END FROM t; SELECT ';END;'; END;
            CREATE TRIGGER s AFTER INSERT ON t BEGIN SELECT 1; END;
            """,
            """
            CREATE TABLE t(a);;
            CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT CASE a WHEN 1 THEN 2 END FROM t; SELECT ';END;'; END;
            create trigger s after insert on t begin select 1; end
            """
        ),
        SchemaPair(
            "statements that do not create",
            "CREATE TABLE t(a, b); CREATE TABLE u(a)",
            "CREATE TABLE t(a); CREATE TABLE IF NOT EXISTS t(x); ALTER TABLE t ADD b; CREATE TABLE u AS SELECT 1 AS a WHERE 0"
        ),
        SchemaPair("IF NOT EXISTS and main", "CREATE TABLE t(a)", "CREATE TABLE IF NOT EXISTS main.t(a)"),
        SchemaPair(
            "another order of making",
            "CREATE TABLE t(a); CREATE TABLE u(b); CREATE INDEX i ON t(a)",
            "CREATE TABLE u(b); CREATE TABLE t(a); CREATE INDEX i ON t(a)"
        ),
        SchemaPair(
            "columns that were added before",
            "CREATE TABLE t(a, CHECK (a > 0)); ALTER TABLE t ADD COLUMN b TEXT; ALTER TABLE t ADD c",
            "CREATE TABLE t(a, b TEXT, c, CHECK (a > 0))"
        ),
        SchemaPair(
            "a table that was renamed before",
            "CREATE TABLE u(a); ALTER TABLE u RENAME TO t; CREATE VIEW v AS SELECT a FROM t",
            "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t"
        ),
        SchemaPair(
            "tables that a migrator keeps its records in",
            """
            CREATE TABLE t(a); CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL, name);
            CREATE TABLE app_migrations(manager TEXT, version TEXT, PRIMARY KEY (manager, version))
            """,
            "CREATE TABLE t(a)"
        ),
        SchemaPair(
            "tables of SQLite's own",
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1); ANALYZE",
            "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT)"
        ),
        SchemaPair(
            "tables in which a virtual one keeps its rows",
            "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x')",
            "CREATE VIRTUAL TABLE f USING fts5(a)"
        ),
    ]
}
