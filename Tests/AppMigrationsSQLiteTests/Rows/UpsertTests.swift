import AppMigrationsRows
import Testing

/// Updates of rows that are there: their primary keys never change.
@Suite struct UpsertTests {
    struct Country: Encodable, Sendable {
        var id: Int?
        var code: String?
        var name = "Deutschland"
    }

    private func countries() throws -> SQLiteConnection {
        try database(
            """
            CREATE TABLE country(id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
            INSERT INTO country VALUES (3, 'DE', 'Germany'), (4, 'FR', 'France');
            CREATE TABLE city(name, country INT REFERENCES country); INSERT INTO city VALUES ('Berlin', 3)
            """
        )
    }

    private let refusal =
        "it was not written: the row that is there has another primary key, which an update never changes, or a"
        + " trigger left the row out; give it the key that is there, or nil"

    @Test(arguments: [nil, 3])
    func `a row found by another unique column keeps its key`(id: Int?) throws {
        for kept in [[], ["id"], ["ID", "name"]] {
            let db = try countries()
            try db.insert(
                [Country(id: id, code: "DE")],
                into: "country",
                onConflict: .update(keepingIfNull: kept)
            )
            #expect(
                try db.query("SELECT * FROM country") == [[3, "DE", "Deutschland"], [4, "FR", "France"]]
            )
        }
    }

    @Test func `a key that is not the one of the row that is there is refused, and no row is written`() throws
    {
        let db = try countries()
        let rows = [Country(id: nil, code: "IT", name: "Italia"), Country(id: 8, code: "DE")]
        let error = try sqlError { try db.insert(rows, into: "country", onConflict: .update()) }
        #expect(error.code == .unwritableRow)
        #expect(error.description == "Row 2: \(refusal). Nothing of it was written.")
        #expect(try db.query("SELECT * FROM country") == [[3, "DE", "Germany"], [4, "FR", "France"]])
    }

    @Test(arguments: ["REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
    func `the rule of the call stands above that of the table`(ofTable: String) throws {
        let rule = "ON CONFLICT \(ofTable)"
        let script = """
            CREATE TABLE country(
                id INTEGER PRIMARY KEY \(rule), code TEXT UNIQUE \(rule), name TEXT NOT NULL \(rule) DEFAULT 'none'
            );
            INSERT INTO country VALUES (3, 'DE', 'Germany'), (4, 'FR', 'France');
            """
        struct Unnamed: Encodable { let code: String, name: String? }
        let rules: [(SQLConflictRule, rows: [Country], names: [[SQLValue]]?)] = [
            (.abort, [Country(id: 5, code: "IT"), Country(id: nil, code: "DE")], nil),
            (.abort, [Country(id: 3, code: "IT")], nil),
            (.ignore, [Country(id: 3, code: "IT")], [["Germany"], ["France"]]),
            (.update(), [Country(id: nil, code: "DE")], [["Deutschland"], ["France"]]),
            (.update(), [Country(id: 4, code: "DE")], nil),
        ]
        for (rule, rows, names) in rules {
            let db = try database(script)
            let insert = { () throws in try db.insert(rows, into: "country", onConflict: rule) }
            if names == nil { _ = try sqlError { try insert() } } else { try insert() }
            #expect(
                try db.query("SELECT name FROM country ORDER BY id") == names ?? [["Germany"], ["France"]]
            )
            let unnamed = { () throws in
                try db.insert([Unnamed(code: "IT", name: nil)], into: "country", onConflict: rule)
            }
            #expect(
                try sqlError { try unnamed() }.message.contains("NOT NULL constraint failed: country.name")
            )
        }
    }

    @Test func `a new key is inserted, and a key that is there takes the new unique value`() throws {
        let db = try countries()
        try db.insert(
            [Country(id: 8, code: "IT", name: "Italia"), Country(id: 3, code: "D")],
            into: "country",
            onConflict: .update()
        )
        #expect(
            try db.query("SELECT * FROM country") == [
                [3, "D", "Deutschland"], [4, "FR", "France"], [8, "IT", "Italia"],
            ]
        )
    }

    @Test(arguments: ["rowid", "oid", "_RowID_"]) func `a row id is a key by any of its names`(name: String)
        throws
    {
        let db = try database("CREATE TABLE t(a UNIQUE, b); INSERT INTO t(rowid, a, b) VALUES (3, 1, 1)")
        let row = Columns(values: [(name, 8), ("a", 1), ("b", 2)])
        let error = try sqlError { try db.insert([row], into: "t", onConflict: .update()) }
        #expect(error.message == "Row 1: \(refusal)")
        try db.insert([Columns(values: [(name, 3), ("a", 1), ("b", 2)])], into: "t", onConflict: .update())
        #expect(try db.query("SELECT rowid, * FROM t") == [[3, 1, 2]])
    }

    @Test func `a column of a row id's name is no key`() throws {
        let db = try database("CREATE TABLE t(oid, a UNIQUE); INSERT INTO t VALUES (3, 1)")
        try db.insert([Columns(values: [("oid", 8), ("a", 1)])], into: "t", onConflict: .update())
        #expect(try db.query("SELECT rowid, * FROM t") == [[1, 8, 1]])
    }

    @Test(arguments: ["", "WITHOUT ROWID"]) func `each part of a key keeps its value, and how it is written`(
        table: String
    ) throws {
        let db = try database(
            """
            CREATE TABLE t(a TEXT COLLATE NOCASE, b INT, c UNIQUE, d, PRIMARY KEY (a, b)) \(table);
            INSERT INTO t VALUES ('De', 1, 7, 0)
            """
        )
        struct Row: Encodable {
            var a: String
            var b: Int
            var c = 7
            var d: Int
        }
        try db.insert([Row(a: "DE", b: 1, d: 1)], into: "t", onConflict: .update())
        #expect(try db.query("SELECT * FROM t") == [["De", 1, 7, 1]])
        let error = try sqlError {
            try db.insert([Row(a: "DE", b: 2, d: 2)], into: "t", onConflict: .update())
        }
        #expect(error.code == .unwritableRow)
        #expect(try db.query("SELECT * FROM t") == [["De", 1, 7, 1]])
    }

    @Test func `a row of a key alone is there, or is inserted`() throws {
        let db = try database("CREATE TABLE t(a PRIMARY KEY, b DEFAULT 5); INSERT INTO t VALUES (1, 2)")
        try db.insert(
            [Columns(values: [("a", 1)]), Columns(values: [("a", 2)])],
            into: "t",
            onConflict: .update()
        )
        #expect(try db.query("SELECT * FROM t") == [[1, 2], [2, 5]])
    }
}
