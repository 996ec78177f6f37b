// The values of a state, as JSON has them.

extension JSON {
    func expected(_ what: Message, at offset: Int? = nil) -> MigrationError {
        .corrupted(location, "expected \(what) at byte \(offset ?? self.offset)")
    }

    func missing(_ key: String) -> MigrationError { expected("\(key.quoted) in the object") }

    /// The value of a member, `null` too; `nil` where there is none.
    ///
    /// Two members of one key are refused, since other readers of JSON would take the other one.
    func member(_ key: String) throws(MigrationError) -> JSON? {
        guard case .object(let members) = content else { throw expected("an object") }
        var found: JSON?
        for member in members where member.key == key {
            if found != nil { throw expected("a key that wasn't there before", at: member.bytes.lowerBound) }
            found = member.value
        }
        return found
    }

    /// The value of a member that has to be there.
    func needed(_ key: String) throws(MigrationError) -> JSON {
        guard let value = try member(key) else { throw missing(key) }
        return value
    }

    /// The value of a member; `nil` where there is none, and for `null`.
    func value(_ key: String) throws(MigrationError) -> JSON? {
        guard let value = try member(key) else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    /// The members with other keys as they stand in `text`, in the form in which they are written again.
    func members(except known: [String], of text: [UInt8]) throws(MigrationError) -> [UInt8] {
        guard case .object(let members) = content else { throw expected("an object") }
        var bytes: [UInt8] = []
        for member in members where !known.contains(member.key) {
            bytes += "  ".utf8
            bytes += text[member.bytes]
            bytes += ",\n".utf8
        }
        return bytes
    }

    private func given<Value>(_ value: Value?, _ what: Message) throws(MigrationError) -> Value {
        guard let value else { throw expected(what) }
        return value
    }

    private var textOrNil: String? { if case .text(let text) = content { text } else { nil } }
    private var numberOrNil: String? { if case .number(let text) = content { text } else { nil } }

    func elements() throws(MigrationError) -> [JSON] {
        guard case .array(let elements) = content else { throw expected("an array") }
        return elements
    }

    func text() throws(MigrationError) -> String { try given(textOrNil, "a string") }

    func textOrNull() throws(MigrationError) -> String? {
        if case .null = content { nil } else { try text() }
    }

    func flag() throws(MigrationError) -> Bool {
        guard case .flag(let flag) = content else { throw expected("true or false") }
        return flag
    }

    /// A number of at most nine digits, which an `Int` of any width holds with the one after it.
    func count() throws(MigrationError) -> Int {
        let count = numberOrNil.flatMap { $0.utf8.count <= 9 ? Int($0) : nil }
        return try given(count.flatMap { $0 >= 0 ? $0 : nil }, "a whole number from 0, of at most 9 digits")
    }

    func fraction() throws(MigrationError) -> Double {
        let number = numberOrNil.flatMap { Double($0) }
        return try given(number.flatMap { (0...1).contains($0) ? $0 : nil }, "a number from 0 to 1")
    }

    func duration() throws(MigrationError) -> Duration {
        let seconds = numberOrNil.flatMap { Double($0) }
        return try given(seconds.flatMap { Duration(decimalSeconds: $0) }, "a number of seconds from 0")
    }

    func version() throws(MigrationError) -> AppVersion { try given(AppVersion(try text()), "a version") }

    func moment() throws(MigrationError) -> Int64 { try given(Timestamp.read(try text()), "a time in UTC") }
}

extension JSON {
    /// An object of the members that have a value, which is JSON already.
    static func object(_ members: [(String, String?)]) -> String {
        "{ \(lines(members).joined(separator: ", ")) }"
    }

    static func array(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[ \(elements.joined(separator: ", ")) ]"
    }

    static func lines(_ members: [(String, String?)]) -> [String] {
        members.compactMap { key, value in value.map { "\(key.quoted) : \($0)" } }
    }

    /// A number of at most nine digits, as ``count()`` reads it.
    static func count(_ number: Int) -> String { String(min(max(number, 0), 999_999_999)) }

    /// A duration in decimal seconds, to the nanosecond, without zeros at the end; within what ``duration()`` reads, whatever
    /// a clock said.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(999_999_999_999)).components
        var digits = String(attoseconds / 1_000_000_000)
        guard attoseconds >= 1_000_000_000 else { return String(seconds) }
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}

extension Duration {
    /// A duration as the state file has it: to the nanosecond, and not negative.
    init?(decimalSeconds seconds: Double) {
        // Above 1e12 seconds a Double no longer holds the nanoseconds that the file is written with.
        guard seconds >= 0, seconds < 1e12 else { return nil }
        let nanoseconds = (seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()
        self = .nanoseconds(Int64(nanoseconds)) + .seconds(Int64(seconds))
    }
}
