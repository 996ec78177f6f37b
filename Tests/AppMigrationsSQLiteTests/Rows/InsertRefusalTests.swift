import AppMigrationsSQLite
import Foundation
import Testing

/// A value that can't be a row, and what the error says.
struct Unwritable: Sendable, CustomTestStringConvertible {
    let message: String
    let write: @Sendable (SQLiteConnection) throws -> Void

    init<Row: Encodable & Sendable>(_ row: Row, _ message: String) {
        self.message = message
        write = { try $0.insert([row], into: "t") }
    }

    var testDescription: String { message }
}

@Suite struct InsertRefusalTests {
    struct Of<Value: Encodable & Sendable>: Encodable, Sendable {
        var a: Value
        init(_ a: Value) { self.a = a }
    }
    struct Pair: Encodable { var x = 1, y = 2 }
    struct Day: Encodable { var X: Date? = Date(timeIntervalSince1970: 0) }
    struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
    struct Refusing: Encodable {
        struct Refused: Error {}
        func encode(to encoder: any Encoder) throws { throw Refused() }
    }
    struct Nested: Encodable {
        enum Key: CodingKey { case a }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var nested = container.nestedUnkeyedContainer(forKey: .a)
            try nested.encode(1)
        }
    }

    static let several =
        "a column holds a single value, and this type encodes several. Encode it as text, or as several columns"

    static let nan = "SQLite would store NaN as NULL; encode nil"

    static let unwritable = [
        Unwritable(
            Of(UInt64.max),
            ", column a: 18446744073709551615 does not fit SQLite's 64-bit integers; encode it as text"
        ),
        Unwritable(Of(Double.nan), ", column a: \(nan)"),
        Unwritable(Of(-Float.nan), ", column a: \(nan)"),
        Unwritable(Of(Decimal(1)), ", column a: \(several)"),
        Unwritable(Of(Date(timeIntervalSince1970: .nan)), ", column a: \(nan)"),
        Unwritable(Of(URL(string: "https://example.org/")), ", column a: \(several)"),
        Unwritable(
            Day(),
            ", column X: a Date is stored as a number of seconds, and a column of type VarChar(9) would turn the number"
                + " into text that can't be read as a Date. Declare the column REAL, or encode the date as text"
        ),
        Unwritable(Of(["x"]), ", column a: \(several)"),
        Unwritable(Of([String]()), ", column a: \(several)"),
        Unwritable(Of(["x": 1]), ", column a: \(several)"),
        Unwritable(Of(Pair()), ", column a: \(several)"),
        Unwritable(Nested(), ", column a: \(several)"),
        Unwritable(Of(Silent()), ", column a: Silent encodes no value"),
        Unwritable(Of(Refusing()), ", column a: Refused()"),
        Unwritable(Refusing(), ": Refused()"),
        Unwritable(Silent(), ": Silent encodes no column"),
        Unwritable([1], ": the value encodes a list, and a row has columns with names"),
        Unwritable(1, ": the value has no names for its columns"),
        Unwritable(
            Columns(values: [("a", 1), ("A", 2)]),
            ", column A: the type encodes two values for this column"
        ),
    ]

    @Test(arguments: unwritable) func `a value that no row can hold is named, and nothing is inserted`(
        row: Unwritable
    ) throws {
        let db = try database("CREATE TABLE t(a, x VarChar(9), y)")
        let error = try sqlError { try row.write(db) }
        #expect(error.code == .unwritableRow)
        #expect(error.message == "Row 1\(row.message)")
        #expect(try db.query("SELECT * FROM t").isEmpty)
    }

    @Test func `the error names the row that it was, and the rows before it are gone`() throws {
        let db = try database("CREATE TABLE t(a)")
        let error = try sqlError { try db.insert([Of(0.5), Of(.nan)], into: "t") }
        #expect(
            error.description
                == "Row 2, column a: SQLite would store NaN as NULL; encode nil. No row was inserted."
        )
        #expect(try db.query("SELECT * FROM t").isEmpty)
    }

    @Test func `a column or a table that is not there is SQLite's error`() throws {
        let db = try database("CREATE TABLE t(a)")
        #expect(
            try sqlError { try db.insert([Pair()], into: "t") }.message == "table t has no column named x"
        )
        #expect(try sqlError { try db.insert([Pair()], into: "u") }.message == "no such table: u")
    }
}
