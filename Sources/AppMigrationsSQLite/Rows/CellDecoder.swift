internal import AppMigrationsSQL

/// Decodes the single value of a column in the current row.
struct CellDecoder: Decoder, SingleValueDecodingContainer {
    let row: RowDecoder
    let column: Int
    let kind: ValueKind?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw Misfit.several
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Misfit.several }

    func decodeNil() -> Bool { row.statement.isNull(at: column) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.simpleValue(at: column) }

    func decode(_ type: String.Type) throws -> String {
        if case .uuid = kind { return try row.uuid(at: column) }
        return try row.simpleValue(at: column)
    }

    func decode(_ type: Float.Type) throws -> Float { try row.float(at: column) }

    func decode(_ type: Double.Type) throws -> Double {
        if case .date = kind { return try row.date(at: column) }
        return try row.simpleValue(at: column)
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try row.integer(type, at: column)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try row.value(type, at: column) }
}
