// Reads and writes the values of a state as JSON.

// Reading.
extension JSON {
    package func expected(_ expectation: Message) -> JSONError {
        JSONError(expected: expectation, at: offset)
    }

    func missing(_ key: String) -> JSONError { expected("an object with the member \(key.quoted)") }

    /// The value of a member; `nil` if there is no such member.
    ///
    /// A JSON `null` is returned as a value.
    ///
    /// Duplicate keys are refused, because RFC 8259 doesn't define which of the values a reader uses.
    package func member(_ key: String) throws(JSONError) -> JSON? {
        let found = try members().filter { $0.key == key }
        if found.count > 1 {
            throw JSONError(
                expected: "a key that doesn't occur earlier in the object",
                at: found[1].bytes.lowerBound
            )
        }
        return found.first?.value
    }

    /// The value of a member; `nil` if there is no such member or its value is `null`.
    func memberUnlessNull(_ key: String) throws(JSONError) -> JSON? {
        guard let value = try member(key) else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    func requiredMember(_ key: String) throws(JSONError) -> JSON {
        guard let value = try member(key) else { throw missing(key) }
        return value
    }

    func version(_ key: String) throws(JSONError) -> AppVersion { try requiredMember(key).version() }

    func versionIfPresent(_ key: String) throws(JSONError) -> AppVersion? { try member(key)?.version() }

    /// The members of an object whose keys aren't in `keys`, with their text.
    ///
    /// `document` is the text from which this object was read.
    func otherMembers(
        than keys: [String],
        in document: [UInt8]
    ) throws(JSONError) -> [MigrationState.OtherMember] {
        try members().filter { !keys.contains($0.key) }.map { member in
            MigrationState.OtherMember(key: member.key, text: Array(document[member.bytes]))
        }
    }

    private func members() throws(JSONError) -> [Member] {
        guard case .object(let members) = content else { throw expected("an object") }
        return members
    }

    func elements() throws(JSONError) -> [JSON] {
        guard case .array(let elements) = content else { throw expected("an array") }
        return elements
    }

    package func string() throws(JSONError) -> String {
        guard case .string(let string) = content else { throw expected("a string") }
        return string
    }

    func bool() throws(JSONError) -> Bool {
        guard case .bool(let bool) = content else { throw expected("true or false") }
        return bool
    }

    /// Reads a whole number from 0 to 999,999,999.
    ///
    /// Any such number fits in a 32-bit `Int`, even after 1 is added.
    package func count() throws(JSONError) -> Int {
        if case .number(let text) = content, text.utf8.count <= 9, text == String(text.number) {
            return Int(text.number)
        }
        throw expected("a whole number from 0 to 999999999")
    }

    private func number(
        in range: ClosedRange<Double>,
        orExpected expectation: Message
    ) throws(JSONError) -> Double {
        guard case .number(let text) = content, let number = Double(text), range.contains(number) else {
            throw expected(expectation)
        }
        return number
    }

    func fraction() throws(JSONError) -> Double { try number(in: 0...1, orExpected: "a number from 0 to 1") }

    /// Reads a duration in seconds.
    ///
    /// The result is rounded to whole nanoseconds.
    package func duration() throws(JSONError) -> Duration {
        let seconds = try number(
            in: 0...Self.longestDuration,
            orExpected: "a number of seconds from 0 to 999999999999"
        )
        let nanoseconds = (seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(nanoseconds))
    }

    /// The longest duration that can be read or written, in seconds.
    ///
    /// A longer duration would be inexact: at this size, neighboring values of a `Double` are already 0.12 ms
    /// apart.
    private static var longestDuration: Double { 999_999_999_999 }

    func version() throws(JSONError) -> AppVersion {
        guard let version = AppVersion(try string()) else { throw expected("a version") }
        return version
    }

    /// A time, in seconds since 1970.
    func time() throws(JSONError) -> Int64 {
        guard let time = Timestamp.read(try string()) else { throw expected("a time in UTC") }
        return time
    }
}

// Writing.
extension JSON {
    /// Writes an object from the names of its members and their values, which are already JSON.
    ///
    /// A member whose value is `nil` is left out.
    package static func object(_ members: [(String, String?)]) -> String {
        "{ \(Self.members(members, separator: ", ")) }"
    }

    static func array(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[ \(elements.joined(separator: ", ")) ]"
    }

    /// Writes the members of an object without the braces around them.
    static func members(_ members: [(String, String?)], separator: String) -> String {
        members.compactMap { key, text in text.map { "\(key.quoted) : \($0)" } }.joined(separator: separator)
    }

    /// Writes a count, clamped to the range that ``count()`` can read.
    package static func count(_ number: Int) -> String { String(min(max(number, 0), 999_999_999)) }

    /// Writes a duration in seconds, clamped to the range that ``duration()`` can read.
    ///
    /// A duration can be negative if the clock was set back.
    package static func seconds(_ duration: Duration) -> String {
        min(max(duration / .seconds(1), 0), longestDuration).description
    }
}

extension AppVersion {
    var json: String { "\"\(description)\"" }
}
