internal import AppMigrationsSQL

/// The keyed container through which a type encodes the columns of a row.
struct RowEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: RowEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { row.set(.null, for: key.stringValue) }
    func encode(_ value: Bool, forKey key: Key) { encodeIfPresent(value, forKey: key) }
    func encode(_ value: String, forKey key: Key) { encodeIfPresent(value, forKey: key) }
    func encode(_ value: Double, forKey key: Key) throws { try encodeIfPresent(value, forKey: key) }
    func encode(_ value: Float, forKey key: Key) throws { try encodeIfPresent(value, forKey: key) }
    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value, forKey key: Key) throws {
        try row.set(integer: value, for: key.stringValue)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try row.set(value: value, for: key.stringValue)
    }

    // The protocol's default implementation leaves a nil out, and the database would insert the column's
    // default value.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { row.set(SQLValue(value), for: key.stringValue) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { row.set(SQLValue(value), for: key.stringValue) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try encodeIfPresent(value.map { Double($0) }, forKey: key)
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try row.set(real: value, for: key.stringValue)
    }

    // One generic function isn't enough. The protocol has a requirement with a default for each of these
    // types, and the default would be called.
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try set(value, for: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try set(value, for: key) }

    private func set<Value: FixedWidthInteger & Encodable>(_ value: Value?, for key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        CellEncoder(row: row, key: key.stringValue, kind: nil).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        CellEncoder(row: row, key: key.stringValue, kind: nil).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { row }

    func superEncoder(forKey key: Key) -> any Encoder {
        CellEncoder(row: row, key: key.stringValue, kind: nil)
    }
}
