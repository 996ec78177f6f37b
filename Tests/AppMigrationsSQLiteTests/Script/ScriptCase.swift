import AppMigrationsSQLite
import Testing

/// A script, and what comes of it in a migration.
struct ScriptCase: CustomTestStringConvertible, Sendable {
    enum Outcome: Sendable {
        case tables([String])
        case refused(SQLError.Code, _ line: Int, _ column: Int)
    }

    let name: String
    let script: String
    let outcome: Outcome

    var testDescription: String { name }

    init(_ name: String, _ script: String, _ outcome: Outcome) {
        self.name = name
        self.script = script
        self.outcome = outcome
    }

    static let all: [ScriptCase] = [
        ScriptCase("empty", "", .tables([])),
        ScriptCase("only blanks", " \n\t\r\n ", .tables([])),
        ScriptCase("only a comment", "-- nothing", .tables([])),
        ScriptCase("only semicolons", ";;\n;", .tables([])),
        ScriptCase("no final semicolon", "CREATE TABLE a(x)", .tables(["a"])),
        ScriptCase("a comment at the end", "CREATE TABLE a(x); -- end", .tables(["a"])),
        ScriptCase("a closed block comment", "/* ; */ CREATE TABLE a(x); /**/", .tables(["a"])),
        ScriptCase("a byte order mark", "\u{FEFF}CREATE TABLE a(x);", .tables(["a"])),
        ScriptCase("CRLF", "CREATE TABLE a(x); -- one\r\nCREATE TABLE b(x);\r\n", .tables(["a", "b"])),
        ScriptCase(
            "line ends of Unicode outside of comments",
            "CREATE TABLE a(x DEFAULT '\u{2028}\u{2029}\u{85}\u{0B}\u{0C}'); CREATE TABLE b(x)",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "a line end of Unicode at the end of a comment",
            "CREATE TABLE a(x); -- one\u{2028}\nCREATE TABLE b(x); -- two\u{85}\r\n-- three\u{2029}",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "a line separator in a comment",
            "CREATE TABLE a(x);\n-- one\u{2028}CREATE TABLE b(x);",
            .refused(.invalidScript, 2, 7)
        ),
        ScriptCase(
            "a paragraph separator in a comment",
            "-- é\u{2029}CREATE TABLE b(x);",
            .refused(.invalidScript, 1, 5)
        ),
        ScriptCase(
            "a next line in a comment",
            "-- one\u{85}CREATE TABLE b(x);",
            .refused(.invalidScript, 1, 7)
        ),
        ScriptCase(
            "a vertical tab in a comment",
            "-- one\u{0B}CREATE TABLE b(x);",
            .refused(.invalidScript, 1, 7)
        ),
        ScriptCase(
            "a form feed in a comment",
            "-- one\u{0C}CREATE TABLE b(x);",
            .refused(.invalidScript, 1, 7)
        ),
        ScriptCase("CRLF at the end of a comment", "CREATE TABLE a(x); -- one\r\n", .tables(["a"])),
        ScriptCase(
            "a semicolon in a text",
            "CREATE TABLE a(x DEFAULT ';'); CREATE TABLE b(x);",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "/* in a text",
            "CREATE TABLE a(x DEFAULT '/*'); CREATE TABLE b(x);",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "-- in a text",
            "CREATE TABLE a(x DEFAULT '--\r'); CREATE TABLE b(x);",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "a quote in a text",
            "CREATE TABLE a(x DEFAULT 'it''s /*'); CREATE TABLE b(x);",
            .tables(["a", "b"])
        ),
        ScriptCase(
            "quoted names",
            "CREATE TABLE \"a;\"(x); CREATE TABLE [b;](x); CREATE TABLE `c;`(x)",
            .tables(["a;", "b;", "c;"])
        ),
        ScriptCase(
            "a trigger with inner semicolons",
            """
            CREATE TABLE a(x);
            CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = 1; DELETE FROM a; END;
            CREATE TABLE b(x);
            """,
            .tables(["a", "b"])
        ),
        ScriptCase(
            "rows are dropped",
            "CREATE TABLE a(x); SELECT * FROM a; INSERT INTO a VALUES (1)",
            .tables(["a"])
        ),
        ScriptCase(
            "a pragma that reads",
            "CREATE TABLE a(x); PRAGMA table_info(a); PRAGMA user_version",
            .tables(["a"])
        ),
        ScriptCase(
            "a pragma as a table",
            "CREATE TABLE a AS SELECT * FROM pragma_table_info('a')",
            .tables(["a"])
        ),
        ScriptCase("names that begin like a keyword", "CREATE TABLE commitment(x)", .tables(["commitment"])),

        ScriptCase("BEGIN", "CREATE TABLE a(x);\n  BEGIN", .refused(.refusedStatement, 2, 3)),
        ScriptCase("COMMIT", "CREATE TABLE a(x);\nCOMMIT;", .refused(.refusedStatement, 2, 1)),
        ScriptCase("END", "CREATE TABLE a(x); END TRANSACTION", .refused(.refusedStatement, 1, 20)),
        ScriptCase("ROLLBACK", "ROLLBACK", .refused(.refusedStatement, 1, 1)),
        ScriptCase("SAVEPOINT", "SAVEPOINT s", .refused(.refusedStatement, 1, 1)),
        ScriptCase("RELEASE", "RELEASE app_migrations_guard", .refused(.refusedStatement, 1, 1)),
        ScriptCase("ROLLBACK TO", "ROLLBACK TO x", .refused(.refusedStatement, 1, 1)),
        ScriptCase("ATTACH", "ATTACH ':memory:' AS m", .refused(.refusedStatement, 1, 1)),
        ScriptCase("DETACH", "DETACH main", .refused(.refusedStatement, 1, 1)),
        ScriptCase("PRAGMA =", "PRAGMA foreign_keys = OFF", .refused(.refusedStatement, 1, 1)),
        ScriptCase("PRAGMA ()", "PRAGMA main.journal_mode(WAL)", .refused(.refusedStatement, 1, 1)),
        ScriptCase(
            "COMMIT after a byte order mark",
            "CREATE TABLE a(x);\n\u{FEFF}COMMIT",
            .refused(.refusedStatement, 2, 2)
        ),
        ScriptCase("COMMIT after a comment", "/* é */ -- x\n/**/commit", .refused(.refusedStatement, 2, 5)),
        ScriptCase("COMMIT after a semicolon", ";; COMMIT", .refused(.refusedStatement, 1, 4)),
        ScriptCase(
            "a numbered parameter",
            "CREATE TABLE a(x);\nINSERT INTO a VALUES (?1)",
            .refused(.refusedStatement, 2, 1)
        ),
        ScriptCase("a named parameter", "SELECT :name", .refused(.refusedStatement, 1, 1)),
        ScriptCase("a zero byte", "CREATE TABLE a(x);\nCRE\0ATE", .refused(.invalidScript, 2, 4)),
        ScriptCase("lone CR after a comment", "-- first\rCREATE TABLE a(x);", .refused(.invalidScript, 1, 9)),
        ScriptCase(
            "lone CR between statements",
            "CREATE TABLE a(x);\rCREATE TABLE b(x);",
            .refused(.invalidScript, 1, 19)
        ),
        ScriptCase("an unterminated comment", "CREATE TABLE a(x);\n/* open", .refused(.invalidScript, 2, 1)),
        ScriptCase("/*/", "CREATE TABLE a(x); /*/", .refused(.invalidScript, 1, 20)),
        ScriptCase("an unterminated text", "SELECT 'open", .refused(.statementFailed, 1, 8)),
        ScriptCase(
            "a misspelt keyword",
            "CREATE TABLE a(x);\nCREAT TABLE b(x)",
            .refused(.statementFailed, 2, 1)
        ),
        ScriptCase(
            "a table that is missing",
            "SELECT 1;\n\n SELECT x FROM missing",
            .refused(.statementFailed, 3, 2)
        ),
        ScriptCase(
            "a statement that fails",
            "CREATE TABLE a(x NOT NULL);\n-- é\n INSERT INTO a VALUES (NULL)",
            .refused(.statementFailed, 3, 2)
        ),
    ]
}
