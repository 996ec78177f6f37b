import AppMigrationsSQLite
import Foundation
import Testing

/// A statement, the type that its rows do not fit, and what the error says.
struct Misfit: Sendable, CustomTestStringConvertible {
    let sql: String
    let message: String
    let read: @Sendable (SQLiteConnection) throws -> Void

    init<Row: Decodable & Sendable>(_ type: Row.Type, _ sql: String, _ message: String) {
        self.sql = sql
        self.message = message
        read = { _ = try $0.fetch(type, sql) }
    }

    var testDescription: String { "\(sql): \(message)" }
}

@Suite struct FetchMisfitTests {
    struct Of<Value: Decodable & Sendable>: Decodable, Sendable { var a: Value }
    enum State: String, Decodable { case draft, sent }
    enum Level: Int, Decodable { case low, high }
    struct Pair: Decodable { var a, b: Int }
    struct Refusing: Decodable {
        struct Refused: Error {}
        init(from decoder: any Decoder) throws { throw Refused() }
    }
    struct Nested: Decodable {
        enum Key: CodingKey { case a }
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .a)
        }
    }

    static let misfits = [
        Misfit(Of<Int>.self, "SELECT 'old' AS a", "column a: the text \"old\" does not fit Int"),
        Misfit(Of<Int>.self, "SELECT 1.0 AS a", "column a: 1.0 does not fit Int"),
        Misfit(Of<Int>.self, "SELECT NULL AS a", "column a: NULL does not fit Int"),
        Misfit(Of<Int?>.self, "SELECT x'00' AS a", "column a: a blob of 1 bytes does not fit Int"),
        Misfit(Of<UInt8>.self, "SELECT 256 AS a", "column a: 256 does not fit UInt8"),
        Misfit(Of<UInt>.self, "SELECT -1 AS a", "column a: -1 does not fit UInt"),
        Misfit(Of<Bool>.self, "SELECT 2 AS a", "column a: 2 does not fit Bool"),
        Misfit(Of<Bool>.self, "SELECT 'true' AS a", "column a: the text \"true\" does not fit Bool"),
        Misfit(Of<Double>.self, "SELECT '1' AS a", "column a: the text \"1\" does not fit Double"),
        Misfit(
            Of<Double>.self,
            "SELECT 9007199254740993 AS a",
            "column a: 9007199254740993 does not fit Double"
        ),
        Misfit(
            Of<Float>.self,
            "SELECT 1e300 AS a",
            "column a: 1e+300 does not fit Float: it would be rounded; read a Double"
        ),
        Misfit(
            Of<Float>.self,
            "SELECT 0.1 AS a",
            "column a: 0.1 does not fit Float: it would be rounded; read a Double"
        ),
        Misfit(
            Of<Float>.self,
            "SELECT 16777217 AS a",
            "column a: 16777217 does not fit Float: it would be rounded; read a Double"
        ),
        Misfit(Of<String>.self, "SELECT 1 AS a", "column a: 1 does not fit String"),
        Misfit(Of<String>.self, "SELECT x'61' AS a", "column a: a blob of 1 bytes does not fit String"),
        Misfit(Of<Data>.self, "SELECT 'a' AS a", "column a: the text \"a\" does not fit Data"),
        Misfit(Of<[UInt8]>.self, "SELECT 1 AS a", "column a: 1 does not fit Array<UInt8>"),
        Misfit(
            Of<State>.self,
            "SELECT 'x' AS a",
            "column a: the text \"x\" does not fit State: Cannot initialize State from invalid String value x"
        ),
        Misfit(
            Of<Level>.self,
            "SELECT 2 AS a",
            "column a: 2 does not fit Level: Cannot initialize Level from invalid Int value 2"
        ),
        Misfit(Of<Level>.self, "SELECT '1' AS a", "column a: the text \"1\" does not fit Int"),
        Misfit(
            Of<UUID>.self,
            "SELECT 'x' AS a",
            "column a: the text \"x\" does not fit UUID: Attempted to decode UUID from invalid UUID string."
        ),
        Misfit(Of<UUID>.self, "SELECT x'00' AS a", "column a: a blob of 1 bytes does not fit UUID"),
        Misfit(
            Of<URL>.self,
            "SELECT 'b' AS a",
            "column a: the text \"b\" does not fit URL: it is made of several values, and a column has one"
        ),
        Misfit(
            Of<Decimal>.self,
            "SELECT '1.5' AS a",
            "column a: the text \"1.5\" does not fit Decimal: it is made of several values, and a column has one"
        ),
        Misfit(Of<Date>.self, "SELECT '5' AS a", "column a: the text \"5\" does not fit Date"),
        Misfit(Of<Date>.self, "SELECT x'' AS a", "column a: a blob of 0 bytes does not fit Date"),
        Misfit(
            Of<[String]>.self,
            "SELECT 'a,b' AS a",
            "column a: the text \"a,b\" does not fit Array<String>: it is made of several values, and a column has one"
        ),
        Misfit(
            Of<Pair>.self,
            "SELECT '{}' AS a",
            "column a: the text \"{}\" does not fit Pair: it is made of several values, and a column has one"
        ),
        Misfit(
            Nested.self,
            "SELECT 1 AS a",
            "column a: 1 does not fit a nested container: it is made of several values, and a column has one"
        ),
        Misfit(
            Of<String>.self,
            "SELECT '\(String(repeating: "é", count: 61))' AS a WHERE 0 UNION SELECT \(Int64.min)",
            "column a: -9223372036854775808 does not fit String"
        ),
        Misfit(
            Of<Int>.self,
            "SELECT '\(String(repeating: "é", count: 61))' AS a",
            "column a: the text \"\(String(repeating: "é", count: 60))…\" does not fit Int"
        ),
    ]

    @Test(arguments: misfits)
    func `a value that does not fit is named, with its row, its column and the type`(
        misfit: Misfit
    ) throws {
        let error = try sqlError { try misfit.read(memory()) }
        #expect(error.code == .unreadableRow)
        #expect(error.message == "Row 1, \(misfit.message)")
    }

    static let others = [
        Misfit(Pair.self, "SELECT 1 AS a, 2 AS c", "there is no column b, which Pair needs, but a, c"),
        Misfit(
            Pair.self,
            "SELECT 1 AS a, 2 AS b, 3 AS B",
            "several columns are called b; rename all but one with AS"
        ),
        Misfit(Int.self, "SELECT 1, 2", "Int is one value, and the row has 2 columns"),
        Misfit(
            [Int].self,
            "SELECT 1, 2",
            "Array<Int> reads values without names, and a row has columns with names"
        ),
        Misfit(Refusing.self, "SELECT 1 AS a, 2 AS b", "Refused()"),
    ]

    @Test(arguments: others) func `a row that does not fit as a whole is named`(misfit: Misfit) throws {
        let error = try sqlError { try misfit.read(memory()) }
        #expect(error.code == .unreadableRow)
        #expect(error.message == "Row 1: \(misfit.message)")
    }

    @Test func `the error has the statement, the row that it was, and the way out`() throws {
        let error = try sqlError {
            try memory().fetch(Of<Int>.self, "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 'x'")
        }
        #expect(
            error.description == "Row 3, column a: the text \"x\" does not fit Int."
                + " Statement: SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 'x';"
                + " Have the statement give what the type needs, or read it as a type that the database has."
        )
    }

    @Test func `the error of the type itself is kept`() throws {
        let error = try sqlError { try memory().fetch(Refusing.self, "SELECT 1, 2") }
        #expect(error.underlyingError is Refusing.Refused)
    }
}
