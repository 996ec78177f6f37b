/// The name of a member in what an app sends: that of the state file, where the state has it too.
///
/// One type serves all of them, since an enum of keys for each would bring the same conformances again and again.
struct CodableKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }
}

/// Writes members; one without a value is left out.
struct MemberWriter {
    private var members: KeyedEncodingContainer<CodableKey>

    @inline(never)
    init(_ encoder: any Encoder) { members = encoder.container(keyedBy: CodableKey.self) }

    @inline(never)
    mutating func write(_ key: String, _ value: (any Encodable)?) throws {
        guard let value else { return }
        try members.encode(value, forKey: CodableKey(stringValue: key))
    }

    /// A time as text, in UTC, as the state file has it.
    @inline(never)
    mutating func write(_ key: String, date: Int64?) throws { try write(key, date.map(Timestamp.text)) }

    /// A duration as seconds.
    @inline(never)
    mutating func write(_ key: String, seconds: Duration?) throws {
        try write(key, seconds.flatMap { Double(JSON.seconds($0)) })
    }
}

/// Reads members; those with other names are passed over.
struct MemberReader {
    private let members: KeyedDecodingContainer<CodableKey>

    @inline(never)
    init(_ decoder: any Decoder) throws { members = try decoder.container(keyedBy: CodableKey.self) }

    @inline(never)
    func read<Value: Decodable>(_ key: String, _ type: Value.Type = Value.self) throws -> Value {
        try members.decode(type, forKey: CodableKey(stringValue: key))
    }

    @inline(never)
    func readIfThere<Value: Decodable>(_ key: String, _ type: Value.Type = Value.self) throws -> Value? {
        try members.decodeIfPresent(type, forKey: CodableKey(stringValue: key))
    }

    @inline(never)
    func date(_ key: String) throws -> Int64? {
        guard let text = try readIfThere(key, String.self) else { return nil }
        guard let date = Timestamp.read(text) else { throw problem(key, "It is not a time in UTC") }
        return date
    }

    @inline(never)
    func seconds(_ key: String) throws -> Duration? {
        guard let seconds = try readIfThere(key, Double.self) else { return nil }
        guard let duration = Duration(decimalSeconds: seconds) else {
            throw problem(key, "It is no number of seconds")
        }
        return duration
    }

    /// The value of a member that has to be there.
    @inline(never)
    func needed<Value>(_ key: String, _ value: Value?) throws -> Value {
        if let value { return value }
        throw problem(key, "It is missing")
    }

    private func problem(_ key: String, _ reason: String) -> DecodingError {
        .dataCorruptedError(forKey: CodableKey(stringValue: key), in: members, debugDescription: reason)
    }
}

extension Array where Element: CustomStringConvertible {
    /// The element with the name that stands in a decoder.
    @inline(never)
    func named(in decoder: any Decoder) throws -> Element {
        let name = try String(from: decoder)
        for element in self where element.description == name { return element }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "\(name.quoted) is no kind that this release knows"
            )
        )
    }
}
