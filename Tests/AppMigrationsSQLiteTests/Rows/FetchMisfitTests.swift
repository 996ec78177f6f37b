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

    private static let several = ": a column holds a single value, and this type needs several"
    private static let rounded = ": it would be rounded; read a Double"

    /// A value in a column a.
    private static func of<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ value: String,
        _ message: String
    ) -> Misfit {
        Misfit(Of<Value>.self, "SELECT \(value) AS a", ", column a: \(message)")
    }

    static let misfits = [
        of(Int.self, "'old'", "the text \"old\" does not fit Int"),
        of(Int.self, "1.0", "1.0 does not fit Int"),
        of(Int.self, "NULL", "NULL does not fit Int"),
        of(Int?.self, "x'00'", "a blob of 1 bytes does not fit Int"),
        of(UInt8.self, "256", "256 does not fit UInt8"),
        of(UInt.self, "-1", "-1 does not fit UInt"),
        of(Bool.self, "2", "2 does not fit Bool"),
        of(Bool.self, "'true'", "the text \"true\" does not fit Bool"),
        of(Double.self, "'1'", "the text \"1\" does not fit Double"),
        of(Double.self, "9007199254740993", "9007199254740993 does not fit Double"),
        of(Float.self, "1e300", "1e+300 does not fit Float\(rounded)"),
        of(Float.self, "0.1", "0.1 does not fit Float\(rounded)"),
        of(Float.self, "16777217", "16777217 does not fit Float\(rounded)"),
        of(String.self, "1", "1 does not fit String"),
        of(String.self, "x'61'", "a blob of 1 bytes does not fit String"),
        of(Data.self, "'a'", "the text \"a\" does not fit Data"),
        of([UInt8].self, "1", "1 does not fit Array<UInt8>"),
        of(
            State.self,
            "'x'",
            "the text \"x\" does not fit State: Cannot initialize State from invalid String value x"
        ),
        of(Level.self, "2", "2 does not fit Level: Cannot initialize Level from invalid Int value 2"),
        of(Level.self, "'1'", "the text \"1\" does not fit Int"),
        of(
            UUID.self,
            "'x'",
            "the text \"x\" does not fit UUID: Attempted to decode UUID from invalid UUID string."
        ),
        of(UUID.self, "x'00'", "a blob of 1 bytes does not fit UUID"),
        of(URL.self, "'b'", "the text \"b\" does not fit URL\(several)"),
        of(Decimal.self, "'1.5'", "the text \"1.5\" does not fit Decimal\(several)"),
        of(Date.self, "'5'", "the text \"5\" does not fit Date"),
        of(Date.self, "x''", "a blob of 0 bytes does not fit Date"),
        of([String].self, "'a,b'", "the text \"a,b\" does not fit Array<String>\(several)"),
        of(Pair.self, "'{}'", "the text \"{}\" does not fit Pair\(several)"),
        Misfit(Nested.self, "SELECT 1 AS a", ", column a: 1 does not fit a nested container\(several)"),
        Misfit(
            Of<String>.self,
            "SELECT '\(String(repeating: "é", count: 61))' AS a WHERE 0 UNION SELECT \(Int64.min)",
            ", column a: -9223372036854775808 does not fit String"
        ),
        of(
            Int.self,
            "'\(String(repeating: "é", count: 61))'",
            "the text \"\(String(repeating: "é", count: 60))…\" does not fit Int"
        ),
        Misfit(Pair.self, "SELECT 1 AS a, 2 AS c", ": Pair needs a column b; the columns are a, c"),
        Misfit(
            Pair.self,
            "SELECT 1 AS a, 2 AS b, 3 AS B",
            ": several columns are called b; rename all but one with AS"
        ),
        Misfit(Int.self, "SELECT 1, 2", ": Int is one value, and the row has 2 columns"),
        Misfit(
            [Int].self,
            "SELECT 1, 2",
            ": Array<Int> decodes a list, but a row has named columns"
        ),
        Misfit(Refusing.self, "SELECT 1 AS a, 2 AS b", ": Refused()"),
    ]

    @Test(arguments: misfits)
    func `a value that does not fit is named, with its row, its column and the type, and a whole row, too`(
        misfit: Misfit
    ) throws {
        let error = try sqlError { try misfit.read(memory()) }
        #expect(error.code == .unreadableRow)
        #expect(error.message == "Row 1\(misfit.message)")
    }

    @Test func `the error has the statement, the row that it was, and the way out`() throws {
        let error = try sqlError {
            try memory().fetch(Of<Int>.self, "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 'x'")
        }
        #expect(
            error.description == "Row 3, column a: the text \"x\" does not fit Int."
                + " Statement: SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 'x';"
                + " Change the statement so that it fits the type, or read the row as a type that fits it."
        )
    }

    @Test func `the error of the type itself is kept`() throws {
        let error = try sqlError { try memory().fetch(Refusing.self, "SELECT 1, 2") }
        #expect(error.underlyingError is Refusing.Refused)
    }
}
