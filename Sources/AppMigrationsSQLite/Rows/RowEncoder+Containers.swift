internal import AppMigrationsSQL

/// The columns of a row, by the keys of a type.
struct RowColumns<Key: CodingKey>: KeyedEncodingContainerProtocol {
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

    // The protocol's own answer leaves the column out, and the database would put its default there.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { row.set(SQLValue(value), for: key.stringValue) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { row.set(SQLValue(value), for: key.stringValue) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        try encodeIfPresent(value.map { Double($0) }, forKey: key)
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try row.set(real: value, for: key.stringValue)
    }

    // The protocol has them for each type by itself, and one for all integers would not be taken instead.
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try set(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try set(value, key) }

    private func set<Value: FixedWidthInteger & Encodable>(_ value: Value?, _ key: Key) throws {
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

/// The one value of a column.
///
/// It takes what a type encodes after the row was refused, too, since a container can't be refused otherwise: that goes with
/// the row.
struct CellEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
    static let refusal =
        "the value is made of several, and a column has one; encode it as a text, or to columns of the row"

    let row: RowEncoder
    let key: String
    let kind: ValueKind?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func superEncoder() -> any Encoder { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.refuse(Self.refusal, at: key)
        return KeyedEncodingContainer(RowColumns(row: row))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        row.refuse(Self.refusal, at: key)
        return self
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func encodeNil() { row.set(.null, for: key) }
    func encode(_ value: Bool) { row.set(.integer(value ? 1 : 0), for: key) }
    func encode(_ value: String) { row.set(.text(value), for: key) }
    func encode(_ value: Float) throws { try row.set(real: Double(value), for: key) }

    func encode(_ value: Double) throws {
        if case .date = kind { return try row.set(date: value, for: key) }
        try row.set(real: value, for: key)
    }

    func encode<Value: FixedWidthInteger & Encodable>(_ value: Value) throws {
        try row.set(integer: value, for: key)
    }

    func encode<Value: Encodable>(_ value: Value) throws { try row.set(value: value, for: key) }
}
