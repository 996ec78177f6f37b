import AppMigrationsSQLite
import Testing

/// Values out of rows, by their types.
@Suite struct SQLReadableTests {
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
                    == "\(message). Change the statement so that it fits the type, or read the row as a type that fits it."
            )
        }
    }

    private func read<Value: SQLReadable>(_ value: SQLValue, _ type: Value.Type) throws -> Value {
        try value.value(as: type)
    }
}
