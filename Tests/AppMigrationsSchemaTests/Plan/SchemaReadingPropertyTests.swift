import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// The library's own reading of a schema's texts, held against SQLite's.
@Suite struct SchemaReadingPropertyTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a type converts values as SQLite does it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "INT", "char", "Text", "CLOB", "blob", "REAL", "floa", "DOUB", "\u{131}nt", "\u{FB02}oat", "x",
            "NUMERIC",
            "any", "date", "point", "BLO", "",
        ]
        let type = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.element(of: parts) }
            .joined(separator: random.element(of: ["", " "]))
        let db = try database("CREATE TABLE t(c \(type)); INSERT INTO t VALUES ('1'), (1)")
        let objects = try SchemaObject.all(of: db)
        let shape = try TableShape(of: objects[0].statement(), in: "main", on: db)
        let expected: [TableShape.Affinity: [SQLValue]] = [
            .number: ["integer", "integer"], .real: ["real", "real"], .text: ["text", "text"],
            .none: ["text", "integer"],
        ]
        let types = try db.query("SELECT typeof(c) FROM t").map { $0[0] }
        #expect(expected[shape.affinity(of: shape.columns[0])] == types, "\(type)")
    }

    @Test(arguments: [
        "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID", "CREATE TABLE t(a INTEGER PRIMARY KEY) /* STRICT */",
        "CREATE TABLE t(a INT PRIMARY KEY) STRICT, without /* */ rowid",
        "CREATE TABLE \"WITHOUT\"(rowid INTEGER PRIMARY KEY)",
        "CREATE TABLE strict(a INTEGER PRIMARY KEY AUTOINCREMENT) strict",
        "CREATE TABLE t(a DEFAULT strict, `without rowid`)",
        "CREATE TABLE t(a CHECK (a <> ') STRICT'), \"AUTOINCREMENT\" INT)",
        "CREATE TABLE t(a INTEGER PRIMARY KEY DESC)",
        "CREATE TABLE t(a INT PRIMARY KEY)", "CREATE TABLE t(a \"INTEGER\" PRIMARY KEY)",
        "CREATE TABLE t(a integer, PRIMARY KEY (a))",
        "CREATE TABLE t(a INTEGER, b, PRIMARY KEY (a, b))",
        "CREATE TABLE t(a INTEGER PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE t(a INTEGER, PRIMARY KEY (a DESC))",
        "CREATE TABLE t(a INTEGER PRIMARY KEY /* AUTOINCREMENT */)",
        "CREATE TABLE t(generated, always INTEGER PRIMARY KEY, b AS (generated), c GENERATED ALWAYS AS (1) STORED)",
    ])
    func `a table is what SQLite says it is`(sql: String) throws {
        let db = try database("\(sql); CREATE TABLE counted(a INTEGER PRIMARY KEY AUTOINCREMENT)")
        let object = try #require(try SchemaObject.all(of: db).first)
        let shape = try TableShape(of: object.statement(), in: "main", on: db)
        let name = shape.name.quoted
        let list = try db.query(
            "SELECT wr, strict FROM pragma_table_list WHERE name = ?",
            [.text(shape.name.text)]
        )
        #expect(list == [[shape.isWithoutRowID ? 1 : 0, shape.isStrict ? 1 : 0]])
        let columns = shape.columns.filter { !$0.isGenerated }
        let row = columns.map { _ in "7" }.joined(separator: ", ")
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        try db.query("INSERT INTO \(name)(\(names)) VALUES (\(row))")
        #expect(try db.query("SELECT count(*) FROM sqlite_sequence") == [[shape.hasAutoincrement ? 1 : 0]])
        if let alias = shape.rowIDAlias {
            #expect(try db.query("SELECT _rowid_ FROM \(name) WHERE \(alias.quoted) = 7") == [[7]])
        } else if !shape.isWithoutRowID {
            #expect(try db.query("SELECT _rowid_ FROM \(name)") == [[1]])
        }
    }

    @Test func `a name is written so that SQLite takes it for the name`() throws {
        let db = try memory()
        let keywords = [
            "abort", "group", "Key", "notnull", "current_date", "rowid", "stored", "strict", "values",
        ]
        let names = ["a", "A1", "_x", "1a", "a b", "a`b", "a\"b", "é", "a$", "", "a]b", "'", "true", "rowid"]
        for name in (keywords + names).map({ SQLName($0) }) {
            try db.query("CREATE TABLE t(\(name.quoted))")
            try db.query("INSERT INTO t VALUES (7)")
            #expect(
                try db.query("SELECT t.\(name.quotedIfNeeded), \(name.quotedIfNeeded) FROM t") == [[7, 7]],
                "\(name)"
            )
            try db.query("DROP TABLE t")
        }
    }
}
