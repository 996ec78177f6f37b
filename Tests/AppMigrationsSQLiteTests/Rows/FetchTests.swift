import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct FetchTests {
    @Test func `each row becomes a value, its columns found by name as SQL finds them`() throws {
        struct Note: Decodable, Equatable {
            var id: Int
            var title: String
            var isPinned: Bool
            var size: Double
            var body: String?
        }
        let db = try database(
            """
            CREATE TABLE note(BODY TEXT, Size, TITLE TEXT, id INTEGER PRIMARY KEY, ispinned, unused);
            INSERT INTO note VALUES ('text', 2, 'é', 1, 1, x'00'), (NULL, 0.5, '', 2, 0, NULL)
            """
        )
        #expect(
            try db.fetch(Note.self, "SELECT * FROM note WHERE id > ? ORDER BY id", [0]) == [
                Note(id: 1, title: "é", isPinned: true, size: 2, body: "text"),
                Note(id: 2, title: "", isPinned: false, size: 0.5),
            ]
        )
        #expect(try db.fetch(Note.self, "SELECT * FROM note WHERE id > 2").isEmpty)
    }

    @Test func `a column of its own is a value, and any row a dictionary`() throws {
        let db = try memory()
        #expect(try db.fetch(Int.self, "SELECT 1 UNION SELECT 2") == [1, 2])
        #expect(try db.fetch(String?.self, "SELECT 'a' UNION ALL SELECT NULL") == ["a", nil])
        #expect(try db.fetch(Data.self, "SELECT x'0102'") == [Data([1, 2])])
        #expect(try db.fetch(Date.self, "SELECT 60") == [Date(timeIntervalSince1970: 60)])
        #expect(try db.fetch([String: Int].self, "SELECT 1 AS a, 2 AS b") == [["a": 1, "b": 2]])
    }

    @Test func `a property that is optional may have no column`() throws {
        struct Partial: Decodable, Equatable {
            var a: Int?
            var b: Int?
        }
        #expect(try memory().fetch(Partial.self, "SELECT 1 AS b, 2 AS c") == [Partial(b: 1)])
    }

    @Test func `properties may be asked for in any order, and twice`() throws {
        struct Twisted: Decodable, Equatable {
            var values: [Int]
            enum Key: CodingKey { case a, b, c }
            init(_ values: [Int]) { self.values = values }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                let first = try container.decode(Int.self, forKey: .a)
                let order: [Key] = first % 2 == 0 ? [.c, .a, .b] : [.b, .b, .a, .c]
                values = try order.map { try container.decode(Int.self, forKey: $0) }
            }
        }
        let rows = "SELECT 1 AS a, 2 AS b, 3 AS c UNION SELECT 4, 5, 6 UNION SELECT 7, 8, 9"
        #expect(
            try memory().fetch(Twisted.self, rows) == [
                Twisted([2, 2, 1, 3]), Twisted([6, 4, 5]), Twisted([8, 8, 7, 9]),
            ]
        )
    }

    @Test func `a class and its superclass read one row`() throws {
        class Base: Decodable { var a = 0 }
        final class Derived: Base {
            var b = 0
            enum Key: CodingKey { case b }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                b = try container.decode(Int.self, forKey: .b)
                try super.init(from: container.superDecoder())
            }
        }
        let row = try #require(try memory().fetch(Derived.self, "SELECT 1 AS a, 2 AS b").first)
        #expect(row.a == 1)
        #expect(row.b == 2)
    }

    @Test func `what the statement throws comes out`() throws {
        let db = try memory()
        #expect(try sqlError { try db.fetch(Int.self, "SELECT 1", [2]) }.code == .invalidQuery)
        #expect(try sqlError { try db.fetch(Int.self, "SELECT nothing") }.code == .statementFailed)
        #expect(try sqlError { try db.fetch(String.self, "SELECT CAST(x'ff' AS TEXT)") }.code == .invalidText)
    }
}
