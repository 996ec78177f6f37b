package import AppMigrationsSQLite
package import Testing

/// A script, and what comes of it in a migration.
package struct ScriptCase: CustomTestStringConvertible, Sendable {
    package enum Outcome: Sendable {
        case made([String])
        case ended(SQLError.Code, _ line: Int, _ column: Int)

        static func tables(_ names: String...) -> Outcome { .made(names) }
        static func refused(_ line: Int, _ column: Int) -> Outcome { .ended(.refusedStatement, line, column) }
        static func invalid(_ line: Int, _ column: Int) -> Outcome { .ended(.invalidScript, line, column) }
        static func failing(_ line: Int, _ column: Int) -> Outcome { .ended(.statementFailed, line, column) }
    }

    package let name: String
    package let script: String
    package let outcome: Outcome

    package var testDescription: String { name }

    package static let all = rows.map { ScriptCase(name: $0, script: $1, outcome: $2) }

    private static let rows: [(String, String, Outcome)] = [
        ("empty", "", .tables()),
        ("only blanks", " \n\t\r\n ", .tables()),
        ("only a comment", "-- nothing", .tables()),
        ("only semicolons", ";;\n;", .tables()),
        ("no final semicolon", "CREATE TABLE a(x)", .tables("a")),
        ("a comment at the end", "CREATE TABLE a(x); -- end", .tables("a")),
        ("a closed block comment", "/* ; */ CREATE TABLE a(x); /**/", .tables("a")),
        ("a byte order mark", "\u{FEFF}CREATE TABLE a(x);", .tables("a")),
        ("CRLF", "CREATE TABLE a(x); -- one\r\nCREATE TABLE b(x);\r\n", .tables("a", "b")),
        (
            "line ends of Unicode outside of comments",
            "CREATE TABLE a(x DEFAULT '\u{2028}\u{2029}\u{85}\u{0B}\u{0C}'); CREATE TABLE b(x)",
            .tables("a", "b")
        ),
        (
            "a line end of Unicode at the end of a comment",
            "CREATE TABLE a(x); -- one\u{2028}\nCREATE TABLE b(x); -- two\u{85}\r\n-- three\u{2029}",
            .tables("a", "b")
        ),
        (
            "a line separator in a comment", "CREATE TABLE a(x);\n-- one\u{2028}CREATE TABLE b(x);",
            .invalid(2, 7)
        ),
        ("a paragraph separator in a comment", "-- é\u{2029}CREATE TABLE b(x);", .invalid(1, 5)),
        ("a next line in a comment", "-- one\u{85}CREATE TABLE b(x);", .invalid(1, 7)),
        ("a vertical tab in a comment", "-- one\u{0B}CREATE TABLE b(x);", .invalid(1, 7)),
        ("a form feed in a comment", "-- one\u{0C}CREATE TABLE b(x);", .invalid(1, 7)),
        ("CRLF at the end of a comment", "CREATE TABLE a(x); -- one\r\n", .tables("a")),
        ("a semicolon in a text", "CREATE TABLE a(x DEFAULT ';'); CREATE TABLE b(x);", .tables("a", "b")),
        ("/* in a text", "CREATE TABLE a(x DEFAULT '/*'); CREATE TABLE b(x);", .tables("a", "b")),
        ("-- in a text", "CREATE TABLE a(x DEFAULT '--\r'); CREATE TABLE b(x);", .tables("a", "b")),
        ("a quote in a text", "CREATE TABLE a(x DEFAULT 'it''s /*'); CREATE TABLE b(x);", .tables("a", "b")),
        (
            "quoted names", "CREATE TABLE \"a;\"(x); CREATE TABLE [b;](x); CREATE TABLE `c;`(x)",
            .tables("a;", "b;", "c;")
        ),
        (
            "a trigger with inner semicolons",
            """
            CREATE TABLE a(x);
            CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = 1; DELETE FROM a; END;
            CREATE TABLE b(x);
            """,
            .tables("a", "b")
        ),
        ("rows are dropped", "CREATE TABLE a(x); SELECT * FROM a; INSERT INTO a VALUES (1)", .tables("a")),
        ("a pragma that reads", "CREATE TABLE a(x); PRAGMA table_info(a); PRAGMA user_version", .tables("a")),
        ("a pragma as a table", "CREATE TABLE a AS SELECT * FROM pragma_table_info('a')", .tables("a")),
        ("names that begin like a keyword", "CREATE TABLE commitment(x)", .tables("commitment")),
        ("BEGIN", "CREATE TABLE a(x);\n  BEGIN", .refused(2, 3)),
        ("COMMIT", "CREATE TABLE a(x);\nCOMMIT;", .refused(2, 1)),
        ("END", "CREATE TABLE a(x); END TRANSACTION", .refused(1, 20)),
        ("ROLLBACK", "ROLLBACK", .refused(1, 1)),
        ("SAVEPOINT", "SAVEPOINT s", .refused(1, 1)),
        ("RELEASE", "RELEASE app_migrations_guard", .refused(1, 1)),
        ("ROLLBACK TO", "ROLLBACK TO x", .refused(1, 1)),
        ("ATTACH", "ATTACH ':memory:' AS m", .refused(1, 1)),
        ("DETACH", "DETACH main", .refused(1, 1)),
        ("PRAGMA =", "PRAGMA foreign_keys = OFF", .refused(1, 1)),
        ("PRAGMA ()", "PRAGMA main.journal_mode(WAL)", .refused(1, 1)),
        ("COMMIT after a byte order mark", "CREATE TABLE a(x);\n\u{FEFF}COMMIT", .refused(2, 2)),
        ("COMMIT after a comment", "/* é */ -- x\n/**/commit", .refused(2, 5)),
        ("COMMIT after a semicolon", ";; COMMIT", .refused(1, 4)),
        ("a numbered parameter", "CREATE TABLE a(x);\nINSERT INTO a VALUES (?1)", .refused(2, 1)),
        ("a named parameter", "SELECT :name", .refused(1, 1)),
        ("a zero byte", "CREATE TABLE a(x);\nCRE\0ATE", .invalid(2, 4)),
        ("lone CR after a comment", "-- first\rCREATE TABLE a(x);", .invalid(1, 9)),
        ("lone CR between statements", "CREATE TABLE a(x);\rCREATE TABLE b(x);", .invalid(1, 19)),
        ("an unterminated comment", "CREATE TABLE a(x);\n/* open", .invalid(2, 1)),
        ("/*/", "CREATE TABLE a(x); /*/", .invalid(1, 20)),
        ("an unterminated text", "SELECT 'open", .failing(1, 8)),
        ("a misspelt keyword", "CREATE TABLE a(x);\nCREAT TABLE b(x)", .failing(2, 1)),
        ("a table that is missing", "SELECT 1;\n\n SELECT x FROM missing", .failing(3, 2)),
        (
            "a statement that fails", "CREATE TABLE a(x NOT NULL);\n-- é\n INSERT INTO a VALUES (NULL)",
            .failing(3, 2)
        ),
    ]
}
