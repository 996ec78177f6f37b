internal import AppMigrationsSQL

/// Encodes the single value of a column.
///
/// The functions of `Encoder` that return a container can't throw. So a refused row is only marked. It still
/// accepts values, and is dropped when its encoding ends.
struct CellEncoder: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
    static let refusal =
        "a column holds a single value, and this type encodes several. Encode it as text, or as several columns"

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
        return KeyedEncodingContainer(RowEncodingContainer(row: row))
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
