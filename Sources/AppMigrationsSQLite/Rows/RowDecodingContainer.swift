internal import AppMigrationsSQL

/// The keyed container through which a type decodes the columns of a row.
struct RowDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.names.compactMap { Key(stringValue: $0) } }

    // If several columns have the name, the key exists, and reading its value throws.
    func contains(_ key: Key) -> Bool {
        if case .missing = row.column(for: key.stringValue) { false } else { true }
    }

    func decodeNil(forKey key: Key) throws -> Bool { row.statement.isNull(at: try column(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try row.simpleValue(at: column(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try row.simpleValue(at: column(key))
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try row.simpleValue(at: column(key))
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try row.float(at: column(key)) }

    // Nearly every row has these two types. The compiler doesn't specialize the generic function below, so it
    // is slower.
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
        try row.misfit(at: column(key), for: "a nested container", cause: Misfit.several)
    }

    private func column(_ key: Key) throws(SQLError) -> Int {
        try row.existingColumn(for: key.stringValue)
    }
}
