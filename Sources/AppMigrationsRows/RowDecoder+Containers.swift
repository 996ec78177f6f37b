internal import AppMigrationsSQLite

/// The columns of a row, by the keys of a type.
struct RowKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.keys() }

    // A name of several columns is an error when its value is asked for.
    func contains(_ key: Key) -> Bool {
        if case .missing = row.column(key.stringValue) { false } else { true }
    }

    func decodeNil(forKey key: Key) throws -> Bool { row.statement.isNull(at: try column(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.bool(at: column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try row.string(at: column(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try row.double(at: column(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try row.float(at: column(key)) }

    // The two that nearly every row has are not left to the generic one, which the compiler does not specialize.
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try row.integer(type, at: column(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try row.integer(type, at: column(key))
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.integer(type, at: column(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.value(type, at: column(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw try nested(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try nested(key)
    }

    func superDecoder() throws -> any Decoder { row }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw try nested(key) }

    private func nested(_ key: Key) throws(SQLError) -> SQLError {
        try row.misfit(column(key), "a nested container", SeveralValues())
    }

    private func column(_ key: Key) throws(SQLError) -> Int { try row.existingColumn(key.stringValue) }
}

/// The one value of a column.
struct CellDecoder: Decoder, SingleValueDecodingContainer {
    let row: RowDecoder
    let column: Int
    let kind: ValueKind

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw SeveralValues()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SeveralValues() }

    func decodeNil() -> Bool { row.statement.isNull(at: column) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.bool(at: column) }

    func decode(_ type: String.Type) throws -> String {
        if case .uuid = kind { return try row.uuid(at: column) }
        return try row.string(at: column)
    }

    func decode(_ type: Float.Type) throws -> Float { try row.float(at: column) }

    func decode(_ type: Double.Type) throws -> Double {
        if case .date = kind { return try row.date(at: column) }
        return try row.double(at: column)
    }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try row.integer(type, at: column)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try row.value(type, at: column) }
}
