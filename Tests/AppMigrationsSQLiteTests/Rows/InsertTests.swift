import AppMigrationsSQLite
import Testing

@Suite struct InsertTests {
    struct Note: Codable, Equatable {
        var id: Int
        var title: String?
        var size: Int? = nil
    }

    private func notes() throws -> SQLiteConnection {
        try database(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT UNIQUE, size DEFAULT 7, other DEFAULT 8)"
        )
    }

    @Test func `rows are inserted, nil as NULL and other columns with their defaults`() throws {
        let db = try notes()
        try db.insert([Note(id: 1, title: "a"), Note(id: 2, size: 5)], into: "note")
        #expect(try db.query("SELECT * FROM note") == [[1, "a", nil, 8], [2, nil, 5, 8]])
        try db.insert([Note](), into: "no such table")
    }

    @Test func `names are quoted`() throws {
        struct Odd: Encodable {
            var value = 1
            enum CodingKeys: String, CodingKey { case value = "a \"b\" `c`" }
        }
        let db = try database("CREATE TABLE \"t \"\"x\"\"\"(\"a \"\"b\"\" `c`\")")
        try db.insert([Odd()], into: "t \"x\"")
        #expect(try db.query("SELECT * FROM \"t \"\"x\"\"\"") == [[1]])
    }

    @Test func `rows may have columns of their own, and their own order`() throws {
        let db = try database("CREATE TABLE t(a DEFAULT 0, b DEFAULT 0, c DEFAULT 0)")
        let rows: [[(String, Int)]] = [
            [("a", 1), ("b", 2)], [("a", 3), ("b", 4)], [("b", 5)], [("b", 6), ("c", 7)],
            [("c", 8), ("b", 9)],
            [("a", 1), ("b", 2), ("c", 3)], [("a", 4)], [("a", 5), ("c", 6)],
        ]
        try db.insert(rows.map(Columns.init), into: "t")
        #expect(
            try db.query("SELECT * FROM t") == [
                [1, 2, 0], [3, 4, 0], [0, 5, 0], [0, 6, 7], [0, 9, 8], [1, 2, 3], [4, 0, 0], [5, 0, 6],
            ]
        )
    }

    @Test func `all rows are inserted or none, also inside a transaction`() throws {
        let db = try notes()
        let rows = [Note(id: 2, title: "b"), Note(id: 3, title: "a")]
        try db.transaction {
            try db.insert([Note(id: 1, title: "a")], into: "note")
            let error = try sqlError { try db.insert(rows, into: "note") }
            #expect(error.extendedResultCode == 2067)
            #expect(error.message == "Row 2: UNIQUE constraint failed: note.title")
        }
        #expect(try db.query("SELECT id FROM note") == [[1]])
        #expect(try sqlError { try db.insert(rows, into: "note") }.code == .statementFailed)
        #expect(try db.query("SELECT id FROM note") == [[1]])
        #expect(try !db.isInTransaction)
    }

    @Test(arguments: ["REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
    func `a key that is taken is an error, whatever the table says of it`(rule: String) throws {
        let db = try database(
            "CREATE TABLE note(id INTEGER PRIMARY KEY ON CONFLICT \(rule), title UNIQUE ON CONFLICT \(rule), size)"
        )
        try db.insert([Note(id: 1, title: "a")], into: "note")
        for taken in [Note(id: 1, title: "b"), Note(id: 2, title: "a")] {
            let error = try sqlError { try db.insert([Note(id: 3, title: "c"), taken], into: "note") }
            #expect(error.message.hasPrefix("Row 2: UNIQUE constraint failed: note."))
            #expect(try db.query("SELECT * FROM note") == [[1, "a", nil]])
        }
    }

    @Test func `a class and its superclass are one row`() throws {
        class Base: Encodable { var a = 1 }
        final class Derived: Base {
            enum Key: CodingKey { case b }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try super.encode(to: container.superEncoder())
                try container.encode(2, forKey: .b)
            }
        }
        let db = try database("CREATE TABLE t(a, b)")
        try db.insert([Derived()], into: "t")
        #expect(try db.query("SELECT * FROM t") == [[1, 2]])
    }
}

/// A row of the columns that it is told.
struct Columns: Encodable, Sendable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let values: [(String, Int)]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in values { try container.encode(value, forKey: Key(stringValue: name)) }
    }
}
