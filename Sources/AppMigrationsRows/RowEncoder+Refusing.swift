/// Takes what a type encodes after the row was refused, since a container can't be refused otherwise.
struct RefusedValues: UnkeyedEncodingContainer, SingleValueEncodingContainer, Encoder {
    static let message =
        "the value is made of several, and a column has one; encode it as a text, or to columns of the row"

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int { 0 }

    func encodeNil() {}
    func encode<Value: Encodable>(_ value: Value) {}

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusedColumns())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { self }
}

/// The same for values with names.
struct RefusedColumns<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) {}

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(RefusedColumns<Nested>()) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { RefusedValues() }
    func superEncoder() -> any Encoder { RefusedValues() }
    func superEncoder(forKey key: Key) -> any Encoder { RefusedValues() }
}
