import AppMigrationsSQLite
import Testing

/// A virtual table that SQLite's checks complain about from version 3.44 on, next to a table `e` whose rows are whole.
struct BrokenIndex: Sendable, CustomTestStringConvertible {
    let name: String
    /// The statements that create the virtual table `f`, separated by semicolons.
    let script: String

    var testDescription: String { name }

    /// The table whose rows are whole.
    static let rows =
        "CREATE TABLE e(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO e VALUES (1, 'hello'), (2, 'more');"

    /// Makes a store with the table and this index.
    func make(_ path: String) throws {
        let db = try SQLiteConnection(path: path)
        defer { db.close() }
        try db.execute(script: Self.rows + script)
    }

    private static func index(_ module: String, then script: String = "") -> String {
        "CREATE VIRTUAL TABLE f USING \(module); \(script)"
    }

    /// Changes the text of the virtual table, as another process with other modules could have written it.
    private static func altered(_ module: String, _ old: String, _ new: String) -> String {
        index(module) + "PRAGMA writable_schema = ON;"
            + "UPDATE sqlite_master SET sql = replace(sql, '\(old)', '\(new)') WHERE name = 'f'"
    }

    private static let rebuild = "INSERT INTO f(f) VALUES ('rebuild');"

    static let all: [BrokenIndex] = [
        .init(
            name: "contentless FTS4, as it should be",
            script: index("fts4(content='', a)", then: "INSERT INTO f(docid, a) VALUES (1, 'x')")
        ),
        .init(name: "FTS4 that was never filled", script: index("fts4(content='e', a)")),
        .init(
            name: "FTS4 that lacks a row",
            script: index("fts4(content='e', a)", then: rebuild + "INSERT INTO e VALUES (3, 'late')")
        ),
        .init(
            name: "FTS4 with a row too many",
            script: index(
                "fts4(content='e', a)",
                then: rebuild + "INSERT INTO f(docid, a) VALUES (9, 'gone')"
            )
        ),
        .init(
            name: "FTS4 of a table that is gone",
            script: "CREATE TABLE c(a);" + index("fts4(content='c', a)", then: "DROP TABLE c")
        ),
        .init(
            name: "FTS4 without its segments",
            script: index("fts4(a)", then: "INSERT INTO f VALUES ('x'); DELETE FROM f_segdir")
        ),
        .init(
            name: "FTS3 whose content was edited",
            script: index("fts3(a)", then: "INSERT INTO f(a) VALUES ('x'); UPDATE f_content SET c0a = 'y'")
        ),
        .init(
            name: "FTS5 with a broken block",
            script: index(
                "fts5(a, content='e', content_rowid='id')",
                then: rebuild + "UPDATE f_data SET block = x'00ff' WHERE id > 10"
            )
        ),
        .init(
            name: "FTS5 with content of its own and broken averages",
            script: index(
                "fts5(a)",
                then: "INSERT INTO f VALUES ('x'); UPDATE f_data SET block = x'ff' WHERE id = 1"
            )
        ),
        .init(
            name: "FTS5 with nothing in it",
            script: index("fts5(a)", then: "INSERT INTO f VALUES ('x'); DELETE FROM f_data")
        ),
        .init(
            name: "FTS5 whose content was edited",
            script: index("fts5(a)", then: "INSERT INTO f VALUES ('x'); UPDATE f_content SET c0 = 'y'")
        ),
        .init(
            name: "FTS5 that lacks a size",
            script: index("fts5(a)", then: "INSERT INTO f VALUES ('x'); DELETE FROM f_docsize")
        ),
        .init(
            name: "FTS5 of a later version that wants its rebuild",
            script: index("fts5(a, content='e')", then: "UPDATE f_config SET v = 0 WHERE k = 'version'")
        ),
        .init(
            name: "FTS5 whose shadow tables are gone",
            script: index(
                "fts5(a, content='e')",
                then: "DROP TABLE f_data; DROP TABLE f_idx; DROP TABLE f_docsize; DROP TABLE f_config"
            )
        ),
        .init(name: "FTS5 with a tokenizer of the app", script: altered("fts5(a)", ")", ", tokenize=app)")),
        .init(name: "FTS4 with a tokenizer of the app", script: altered("fts4(a)", ")", ", tokenize=app)")),
        .init(name: "a module of the app", script: altered("fts5(a)", "fts5", "app")),
        .init(
            name: "an R-tree that lacks a row",
            script: index(
                "rtree(id, x, y)",
                then: "INSERT INTO f VALUES (1, 1, 2), (2, 3, 4); DELETE FROM f_rowid"
            )
        ),
        .init(
            name: "an R-tree without a root",
            script: index(
                "rtree(id, x, y, +l)",
                then: "INSERT INTO f VALUES (1, 1, 2, 'a'); DELETE FROM f_node"
            )
        ),
        .init(
            name: "an R-tree whose node is too short",
            script: index("rtree_i32(id, x, y)", then: "UPDATE f_node SET data = x'0000'")
        ),
        .init(
            name: "the vocabulary of an index that is gone",
            script: "CREATE VIRTUAL TABLE g USING fts5(a);"
                + index("fts5vocab('g', 'row')", then: "DROP TABLE g")
        ),
        .init(name: "the statistics of the file", script: index("dbstat")),
        .init(
            name: "an index whose name is a number in quotes",
            script: "CREATE VIRTUAL TABLE \"1\"\"2'\" USING fts4(content='e', a);"
                + index("fts4(content='e', a)")
        ),
        .init(
            name: "an index that other objects read",
            script: index("fts4(content='e', a)")
                + "CREATE VIEW v AS SELECT * FROM f;"
                + "CREATE TRIGGER t AFTER DELETE ON e BEGIN DELETE FROM f WHERE docid = old.id; END"
        ),
    ]
}
