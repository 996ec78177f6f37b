import AppMigrationsSQLite
import AppMigrationsSchema

/// Tables of an app whose names SQLite gives to the shadow tables of a virtual table, and tables that are shadow tables.
extension SchemaPair {
    private static let table = "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT);"
    private static let index =
        "CREATE VIRTUAL TABLE notes USING fts5(body, content='notes_content', content_rowid='id');"
    private static let row =
        "INSERT INTO notes_content VALUES (1, 'hello'); INSERT INTO notes(rowid, body) VALUES (1, 'hello');"
    private static let longer = "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, lang TEXT);"
    private static let addLang = ["add the column lang to the table notes_content"]

    static let shadowNamed =
        changed + created + dropped + otherModules + left
        + ["'f_content'", "\"f_content\"", "[f_content]", "`f_content`", "f_content"].map { name in
            let index = "CREATE VIRTUAL TABLE f USING fts4(content=\(name))"
            return SchemaPair(
                "a content table that is written \(name)",
                "CREATE TABLE f_content(body); \(index)",
                "CREATE TABLE f_content(body, lang TEXT); \(index)",
                ["add the column lang to the table f_content"]
            )
        }

    private static let changed = [
        SchemaPair("the content table of an index", table + index + row, table + index),
        SchemaPair(
            "the content table of an index gets a column",
            table + index + row,
            longer + index,
            addLang,
            query:
                "SELECT id, body, lang FROM notes_content WHERE id IN (SELECT rowid FROM notes WHERE notes MATCH 'hello')",
            rows: [[1, "hello", nil]]
        ),
        SchemaPair(
            "the content table of an index is rebuilt",
            table + index + row,
            "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, CHECK (id > 0));" + index,
            ["rebuild the table notes_content"],
            query: "SELECT rowid, body FROM notes WHERE notes MATCH 'hello'",
            rows: [[1, "hello"]]
        ),
        SchemaPair(
            "the content table of an index gets an index and triggers",
            table + index + row,
            table + index
                + """
                CREATE INDEX by_body ON notes_content(body);
                CREATE TRIGGER n AFTER INSERT ON notes_content BEGIN
                    INSERT INTO notes(rowid, body) VALUES (new.id, new.body);
                END
                """,
            ["create the index by_body", "create the trigger n"]
        ),
        SchemaPair(
            "the content table of an index loses an index and a trigger",
            table + index + row
                + """
                CREATE INDEX by_body ON notes_content(body);
                CREATE TRIGGER n AFTER INSERT ON notes_content BEGIN SELECT 1; END
                """,
            table + index,
            ["drop the trigger n", "drop the index by_body"]
        ),
        SchemaPair(
            "an index that was created before its content table",
            index + table + row,
            index + longer,
            addLang
        ),
        SchemaPair(
            "a content table whose name is written in another case",
            "CREATE TABLE Notes_Content(id INTEGER PRIMARY KEY, body TEXT);" + index + row,
            "CREATE TABLE Notes_Content(id INTEGER PRIMARY KEY, body TEXT, lang TEXT);" + index,
            ["add the column lang to the table Notes_Content"]
        ),
        SchemaPair(
            "a content table with quotes in its name",
            #"CREATE TABLE "my ""note's""_content"(body); CREATE VIRTUAL TABLE "my ""note's""" USING fts5(body, content='my "note''s"_content')"#,
            #"CREATE TABLE "my ""note's""_content"(body, lang TEXT); CREATE VIRTUAL TABLE "my ""note's""" USING fts5(body, content='my "note''s"_content')"#,
            [#"add the column lang to the table my "note's"_content"#]
        ),
        SchemaPair(
            "a content table with a generated column",
            "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, a, b AS (a));" + index,
            "CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT, a, b AS (a), lang TEXT);" + index,
            addLang
        ),
        SchemaPair(
            "a view as the content of an index",
            "CREATE TABLE t(body); CREATE VIEW notes_content AS SELECT rowid AS id, body FROM t;" + index,
            "CREATE TABLE t(body); CREATE VIEW notes_content AS SELECT rowid AS id, body || '' AS body FROM t;"
                + index,
            ["drop the view notes_content", "create the view notes_content"]
        ),
        SchemaPair(
            "a view as the content of an index that takes its columns from the view",
            "CREATE TABLE t(body); CREATE VIEW f_content AS SELECT body FROM t; CREATE TABLE f_stat(a);"
                + "CREATE VIRTUAL TABLE f USING fts4(content=f_content, matchinfo=fts3)",
            "CREATE TABLE t(body); CREATE VIEW f_content AS SELECT body FROM t; CREATE TABLE f_stat(a, b);"
                + "CREATE VIRTUAL TABLE f USING fts4(content=f_content, matchinfo=fts3)",
            ["add the column b to the table f_stat"]
        ),
        SchemaPair(
            "a table of the app with a trigger on a shadow table",
            "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE log(a)",
            """
            CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE log(a);
            CREATE TRIGGER r AFTER INSERT ON f_content BEGIN INSERT INTO log VALUES (new.c0); END;
            CREATE INDEX f_by_a ON f_content(c0)
            """,
            ["create the index f_by_a", "create the trigger r"]
        ),
        SchemaPair(
            "a virtual table that is replaced, with a trigger on its shadow table",
            "CREATE VIRTUAL TABLE f USING fts5(a); CREATE TRIGGER r AFTER INSERT ON f_content BEGIN SELECT 1; END",
            "CREATE VIRTUAL TABLE f USING fts5(a, b); CREATE TRIGGER r AFTER INSERT ON f_content BEGIN SELECT 1; END",
            ["drop the table f", "create the table f", "create the trigger r"],
            hints: .init(droppedTables: ["f"])
        ),
    ]

    private static let created = [
        SchemaPair(
            "a new installation with a content table",
            "",
            table + index,
            ["create the table notes_content", "create the table notes", "fill the full-text index notes"]
        ),
        SchemaPair(
            "a new installation, with the index before its content table",
            "",
            index + table,
            ["create the table notes_content", "create the table notes", "fill the full-text index notes"]
        ),
        SchemaPair(
            "a content table of a table that had no index",
            table,
            table + index,
            ["create the table notes", "fill the full-text index notes"]
        ),
        SchemaPair(
            "a virtual table with an index and a trigger on its shadow table",
            "",
            """
            CREATE VIRTUAL TABLE f USING fts5(a); CREATE INDEX i ON f_content(c0);
            CREATE TRIGGER r AFTER INSERT ON f_content BEGIN SELECT 1; END
            """,
            ["create the table f", "create the index i", "create the trigger r"]
        ),
        SchemaPair(
            "a table next to a contentless index",
            "",
            "CREATE VIRTUAL TABLE f USING fts5(a, content=''); CREATE TABLE f_content(id INTEGER PRIMARY KEY, a)",
            ["create the table f_content", "create the table f"]
        ),
    ]

    private static let dropped = [
        SchemaPair(
            "an index that gets a shadow table with the name of its content table",
            table + index + row,
            "CREATE VIRTUAL TABLE notes USING fts5(body)",
            ["drop the table notes", "drop the table notes_content", "create the table notes"],
            hints: .init(droppedTables: ["notes", "notes_content"])
        ),
        SchemaPair(
            "an index that gets a content table with the name of its shadow table",
            "CREATE VIRTUAL TABLE notes USING fts5(body)",
            table + index,
            [
                "drop the table notes", "create the table notes_content", "create the table notes",
                "fill the full-text index notes",
            ],
            hints: .init(droppedTables: ["notes"])
        ),
        SchemaPair(
            "an index that is dropped without its content table",
            table + index + row,
            table,
            ["drop the table notes"],
            hints: .init(droppedTables: ["notes"]),
            query: "SELECT * FROM notes_content",
            rows: [[1, "hello"]]
        ),
        SchemaPair(
            "an index that is dropped with its content table",
            table + index + row,
            "CREATE TABLE z(a)",
            ["create the table z", "drop the table notes_content", "drop the table notes"],
            hints: .init(droppedTables: ["notes", "notes_content"])
        ),
        SchemaPair(
            "a content table that is dropped without the index",
            table + index,
            "CREATE TABLE other(id INTEGER PRIMARY KEY, body TEXT);" + index,
            ["create the table other", "drop the table notes_content"],
            hints: .init(droppedTables: ["notes_content"])
        ),
        SchemaPair(
            "an index with another tokenizer",
            table + index + row,
            table + "CREATE VIRTUAL TABLE notes USING fts5(body, content='notes_content', tokenize='porter')",
            ["drop the table notes", "create the table notes", "fill the full-text index notes"],
            hints: .init(droppedTables: ["notes"]),
            query: "SELECT * FROM notes_content",
            rows: [[1, "hello"]]
        ),
    ]

    /// Statements of virtual tables, with the name of a table next to it that the module doesn't create.
    private static let otherModules = [
        ("f_content", "fts5(a, content='')"), ("f_content", "fts5(a, content='f_content')"),
        ("f_docsize", "fts5(a, columnsize=0)"), ("f_docsize", "fts5(a, columnsize=0, content='')"),
        ("f_content", "fts5(a, content=f_content, prefix='2 3')"),
        ("f_content", "fts4(content='f_content', a)"),
        ("f_content", "fts4(content=f_content)"), ("f_content", "fts4(content='', a)"),
        ("f_docsize", "fts4(a, matchinfo=fts3)"), ("f_stat", "fts4(a, matchinfo=fts3)"),
        ("f_stat", "fts3(a)"),
        ("f_docsize", "fts3(a, tokenize=porter)"),
        ("f_archive", "fts5(f_data, f_idx)"),
        ("f_content", "fts5(f_data, f_idx, content='')"), ("f_data", "fts4(a, prefix='2,3')"),
        ("f_content", "rtree(id, x, y)"),
        ("f_data", "rtree(id, x, y, +label TEXT)"), ("f_data", "rtree_i32(id, x, y)"),
        ("f_content", "dbstat"), ("f_data", "fts5vocab('g', 'row')"), ("f_content", "fts4aux(g)"),
    ].map { table, module in
        let virtual = "CREATE VIRTUAL TABLE f USING \(module);"
        return SchemaPair(
            "\(table) of the app next to \(module)",
            "CREATE VIRTUAL TABLE g USING \(module.contains("aux") ? "fts4" : "fts5")(a); CREATE TABLE \(table)(a);"
                + virtual + "INSERT INTO \(table) VALUES ('x')",
            "CREATE VIRTUAL TABLE g USING \(module.contains("aux") ? "fts4" : "fts5")(a); CREATE TABLE \(table)(a, b INT);"
                + virtual,
            ["add the column b to the table \(table)"],
            query: "SELECT * FROM \(table)",
            rows: [["x", nil]]
        )
    }

    private static let left =
        [
            "fts5(a)", "fts5(a, content='')", "fts5(a, columnsize=0)", "fts5(a, prefix='1 2')",
            "fts5(\"f_data\", f_idx)",
            "fts4(a)", "fts4(a, content='')", "fts4(a, matchinfo=fts3)", "fts3(a)", "rtree(id, x, y)",
            "rtree(id, x, y, +f_node)",
        ].map { module in
            SchemaPair(
                "the shadow tables of \(module)",
                "CREATE VIRTUAL TABLE f USING \(module)",
                "CREATE VIRTUAL TABLE f USING \(module); CREATE TABLE t(a)",
                ["create the table t"]
            )
        } + [
            SchemaPair(
                "the table that FTS3 creates when it merges",
                "CREATE VIRTUAL TABLE f USING fts3(a); INSERT INTO f VALUES ('x'); INSERT INTO f(f) VALUES ('automerge=2')",
                "CREATE VIRTUAL TABLE f USING fts3(a)"
            ),
            SchemaPair(
                "the table that FTS3 creates when it merges, after a rename",
                """
                CREATE VIRTUAL TABLE g USING fts3(a); INSERT INTO g VALUES ('x'); INSERT INTO g(g) VALUES ('merge=1,2');
                ALTER TABLE g RENAME TO f
                """,
                "CREATE VIRTUAL TABLE f USING fts3(a)"
            ),
        ]
}
