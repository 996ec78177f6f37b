import AppMigrationsRows
import Foundation
import Testing

/// Values out of rows and into arguments, by their types.
@Suite struct SQLReadableTests {
    private enum Color: String, Codable { case red }
    private struct Point: Codable { var x = 1 }

    @Test func `a value is read as the type that it fits`() throws {
        #expect(try SQLValue.integer(7).value(as: Int.self) == 7)
        #expect(try SQLValue.integer(.min).value(as: Int64.self) == .min)
        #expect(try SQLValue.real(0.5).value(as: Double.self) == 0.5)
        #expect(try SQLValue.integer(3).value(as: Double.self) == 3)
        #expect(try SQLValue.integer(0).value(as: Bool.self) == false)
        #expect(try SQLValue.integer(1).value(as: Bool.self))
        #expect(try SQLValue.text("é").value(as: String.self) == "é")
        #expect(try SQLValue.blob([1]).value(as: [UInt8].self) == [1])
        #expect(try SQLValue.null.value(as: String?.self) == nil)
        #expect(try SQLValue.text("a").value(as: String?.self) == "a")
        let inferred: Int? = try SQLValue.integer(7).value()
        #expect(inferred == 7)
    }

    @Test func `another type is an error and no neutral value`() throws {
        let misfits: [(SQLValue, any SQLReadable.Type, String)] = [
            (nil, Int.self, "NULL does not fit Int"),
            (1.5, Int.self, "1.5 does not fit Int"),
            ("7", Int64.self, "the text \"7\" does not fit Int64"),
            (.integer(.max), Double.self, "9223372036854775807 does not fit Double"),
            (2, Bool.self, "2 does not fit Bool"),
            (7, String.self, "7 does not fit String"),
            (7, String?.self, "7 does not fit Optional<String>"),
            ("a", [UInt8].self, "the text \"a\" does not fit Array<UInt8>"),
        ]
        for (value, type, message) in misfits {
            let error = try sqlError { _ = try read(value, type) }
            #expect(error.code == .unreadableRow)
            #expect(
                error.description
                    == "\(message). Have the statement give what the type needs, or read it as a type that the database has."
            )
        }
    }

    private func read<Value: SQLReadable>(_ value: SQLValue, _ type: Value.Type) throws -> Value {
        try value.value(as: type)
    }

    @Test func `an argument is what an insert would keep`() throws {
        let id = UUID()
        let (date, none): (Date, Date?) = (Date(timeIntervalSince1970: 1.5), nil)
        #expect(try SQLValue(encoding: date) == 1.5)
        #expect(try SQLValue(encoding: Optional(date)) == 1.5)
        #expect(try SQLValue(encoding: none) == .null)
        #expect(try SQLValue(encoding: id) == .text(id.uuidString))
        #expect(try SQLValue(encoding: Data([0, 255])) == .blob([0, 255]))
        #expect(try SQLValue(encoding: Color.red) == "red")
        #expect(try SQLValue(encoding: UInt8(7)) == 7)
    }

    @Test func `an argument that no column can hold is an error`() throws {
        let error = try sqlError { try SQLValue(encoding: Point()) }
        #expect(error.code == .unwritableRow)
        #expect(
            error.message
                == "An argument of the type Point: the value is made of several, and a column has one; encode it as a text,"
                + " or to columns of the row"
        )
        #expect(
            try sqlError { try SQLValue(encoding: Double.nan) }.message
                == "An argument of the type Double: SQLite would store NaN as NULL; encode nil"
        )
    }
}
