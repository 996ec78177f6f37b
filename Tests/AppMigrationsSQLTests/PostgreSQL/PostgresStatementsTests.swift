import AppMigrationsSQL
import Testing

@Suite struct PostgresStatementsTests {
    @Test(
        arguments: [
            ("", []),
            (" ; ;; -- nothing\n /* ; /* ; */ ; */ ;", []),
            ("\u{FEFF}SELECT 1", ["SELECT 1"]),
            (
                "SELECT 1; SELECT 2 ;\n-- end ; of it\rSELECT 3 -- the last",
                ["SELECT 1", "SELECT 2", "SELECT 3"]
            ),
            ("/* a */ SELECT /* ; */ 1 /* b */; SELECT 2", ["SELECT /* ; */ 1", "SELECT 2"]),
            ("SELECT 1 +--;\n2; SELECT 3 */**/ 4", ["SELECT 1 +--;\n2", "SELECT 3 */**/ 4"]),
            // Texts and names.
            ("SELECT 'a;''b;', ''; SELECT \"a;\"\"b;\"", ["SELECT 'a;''b;', ''", "SELECT \"a;\"\"b;\""]),
            ("SELECT 'a\\'; SELECT '\\\\'", ["SELECT 'a\\'", "SELECT '\\\\'"]),
            ("SELECT E'a\\';', e'\\\\'; SELECT 2", ["SELECT E'a\\';', e'\\\\'", "SELECT 2"]),
            ("SELECT be'\\'; SELECT 2", ["SELECT be'\\'", "SELECT 2"]),
            ("SELECT E'a' -- ;\n\t'\\';'; SELECT 2", ["SELECT E'a' -- ;\n\t'\\';'", "SELECT 2"]),
            ("SELECT E'a'\r--\r'\\';'; SELECT 2", ["SELECT E'a'\r--\r'\\';'", "SELECT 2"]),
            ("SELECT E'a', '\\', E'a' \"b\\\"; SELECT 2", ["SELECT E'a', '\\', E'a' \"b\\\"", "SELECT 2"]),
            (
                "SELECT U&'\\0061;', x'0f', B'1'; SELECT U&\"\\0061;\"",
                ["SELECT U&'\\0061;', x'0f', B'1'", "SELECT U&\"\\0061;\""]
            ),
            // Dollar quotes.
            (
                "SELECT $$;$a$;'$$; SELECT $a$;$$;$aa$;$A$;$$a$",
                ["SELECT $$;$a$;'$$", "SELECT $a$;$$;$aa$;$A$;$$a$"]
            ),
            (
                "SELECT a$b$; SELECT é$a$; SELECT $é1$;$é1$",
                ["SELECT a$b$", "SELECT é$a$", "SELECT $é1$;$é1$"]
            ),
            ("SELECT $1$$;$$; SELECT $ a; SELECT 1e$a$", ["SELECT $1$$;$$", "SELECT $ a", "SELECT 1e$a$"]),
            // Parentheses, which no text opens.
            (
                "CREATE RULE r AS ON INSERT TO a DO (SELECT 1; SELECT '('); SELECT 2",
                ["CREATE RULE r AS ON INSERT TO a DO (SELECT 1; SELECT '(')", "SELECT 2"]
            ),
            (
                "SELECT 1); SELECT (2); SELECT (3; SELECT 4",
                ["SELECT 1)", "SELECT (2)", "SELECT (3; SELECT 4"]
            ),
        ]
    )
    func `a script is split where the server ends a statement`(script: String, expected: [String]) throws {
        #expect(try PostgresStatements(script).statements.map(\.text) == expected)
    }

    @Test(
        arguments: [
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
            "create or /* */ replace procedure f() begin atomic insert into a values (1);; end",
            "CREATE FUNCTION f(a int DEFAULT (1)) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1 END; SELECT 2; END",
            "CREATE FUNCTION begin() RETURNS begin BEGIN\nATOMIC END",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1 AS begin; SELECT begin FROM atomic; END",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT 1; END; END",
            "CREATE FUNCTION f() RETURNS int RETURN 1",
            "CREATE FUNCTION f() RETURNS atomic AS 'SELECT 1' LANGUAGE sql",
            "CREATE FUNCTION f() RETURNS int AS 'BEGIN ATOMIC;' LANGUAGE sql",
            "CREATE TABLE \"BEGIN ATOMIC\"(x int)",
            "BEGIN", "COMMIT AND CHAIN", "SELECT begin atomic FROM a",
            "CREATE VIEW v AS SELECT begin atomic FROM a",
            "(SELECT 1)", "COPY a FROM '/stdin'", "COPY (SELECT 1 FROM stdin) TO PROGRAM 'cat'",
            "COPY stdin FROM 'a'",
            "SELECT 1 FROM stdin", "SELECT '\\copy'", "SELECT $1",
        ]
    )
    func `the semicolons of a body end no statement, and those after it do`(statement: String) throws {
        let script = "SELECT 0; \(statement);\n\(statement)\n; SELECT 1"
        #expect(
            try PostgresStatements(script).statements.map(\.text) == [
                "SELECT 0", statement, statement, "SELECT 1",
            ]
        )
    }

    @Test func `a body that nothing ends goes to the end of the script, where the server refuses it`() throws
    {
        let script = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2"
        #expect(try PostgresStatements(script).statements.map(\.text) == [script])
    }

    @Test func `each statement has its place, in lines and in Unicode scalars`() throws {
        let statements = try PostgresStatements("\u{FEFF}SELECT 'é\n€'; /*\n😀*/ SELECT 2;;\r\n\tSELECT 3;")
            .statements
        #expect(statements.map { [$0.position.line, $0.position.column] } == [[1, 1], [3, 5], [4, 2]])
    }

    @Test(
        arguments: [
            ("SELECT 1;\n 'é", 2, 2, "The string has no closing single quote."),
            ("SELECT E'\\'", 1, 9, "The string has no closing single quote."),
            ("SELECT E'\\", 1, 9, "The string has no closing single quote."),
            ("SELECT E'a'\n'", 2, 1, "The string has no closing single quote."),
            ("SELECT \"a\"\"", 1, 8, "The name has no closing double quote."),
            ("SELECT $a$ $A$ $$ $a", 1, 8, "The string that begins with $a$ has no closing $a$."),
            (
                "SELECT 1 /* /* */", 1, 10,
                "The comment has no closing */. Comments nest in PostgreSQL, so each /* needs its own */."
            ),
            ("SELECT 1;\0SELECT 2", 1, 10, "There is a zero byte, at which PostgreSQL would stop reading."),
            (
                "SELECT 1;\n\\copy a FROM 'a'", 2, 1,
                "The backslash begins a command of psql, which the server doesn't know. Write SQL instead, or remove it."
            ),
        ]
    )
    func `a script that can't be split is refused with the place`(
        script: String,
        line: Int,
        column: Int,
        message: String
    ) throws {
        let error = try #require(throws: SQLError.self) { try PostgresStatements(script) }
        #expect(error.code == .invalidScript)
        #expect(
            error.description
                == "line \(line), column \(column): \(message) No statement of the script was run. Correct its text."
        )
    }

    @Test(
        arguments: [
            "COPY a FROM stdin", "copy a (x, y) from /* ; */ STDIN WITH (FORMAT csv)", "COPY a FROM STDOUT",
            "COPY a TO stdout", "COPY (SELECT 1) TO STDIN",
        ]
    )
    func `rows can't be copied over the connection`(statement: String) throws {
        let error = try #require(throws: SQLError.self) {
            try PostgresStatements("SELECT 1; \(statement);\n1\n\\.")
        }
        #expect(error.code == .invalidScript)
        #expect(
            error.message
                == "COPY FROM STDIN and COPY TO STDOUT need a connection that can transfer rows, which this one can't."
                + " Write INSERT, or copy the rows in a closure with the database's own library"
        )
    }
}
