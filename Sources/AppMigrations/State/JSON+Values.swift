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

    func needed(_ key: String) throws(MigrationError) -> JSON {
        guard let value = try member(key) else { throw missing(key) }
        return value
    }

    func version(_ key: String) throws(MigrationError) -> AppVersion { try needed(key).version() }

    func versionOrNil(_ key: String) throws(MigrationError) -> AppVersion? { try member(key)?.version() }

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
            bytes += Array("  ".utf8) + Array(text[member.bytes]) + Array(",\n".utf8)
        }
        return bytes
    }

    func elements() throws(MigrationError) -> [JSON] {
        guard case .array(let elements) = content else { throw expected("an array") }
        return elements
    }

    func text() throws(MigrationError) -> String {
        guard case .text(let text) = content else { throw expected("a string") }
        return text
    }

    func flag() throws(MigrationError) -> Bool {
        guard case .flag(let flag) = content else { throw expected("true or false") }
        return flag
    }

    /// A number of at most nine digits, which an `Int` of any width holds with the one after it.
    func count() throws(MigrationError) -> Int {
        if case .number(let text) = content, text.utf8.count <= 9, text == String(text.number) {
            return Int(text.number)
        }
        throw expected("a whole number from 0, of at most 9 digits")
    }

    private func number(in range: ClosedRange<Double>, _ what: Message) throws(MigrationError) -> Double {
        guard case .number(let text) = content, let number = Double(text), range.contains(number)
        else { throw expected(what) }
        return number
    }

    func fraction() throws(MigrationError) -> Double { try number(in: 0...1, "a number from 0 to 1") }

    /// A duration as the file has it, to the nanosecond.
    func duration() throws(MigrationError) -> Duration {
        let seconds = try number(in: 0...Self.longestDuration, "a number of seconds from 0")
        let nanoseconds = (seconds.truncatingRemainder(dividingBy: 1) * 1e9).rounded()
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(nanoseconds))
    }

    /// Above 1e12 seconds a `Double` no longer holds the nanoseconds.
    private static var longestDuration: Double { 999_999_999_999 }

    func version() throws(MigrationError) -> AppVersion {
        guard let version = AppVersion(try text()) else { throw expected("a version") }
        return version
    }

    func moment() throws(MigrationError) -> Int64 {
        guard let moment = Timestamp.read(try text()) else { throw expected("a time in UTC") }
        return moment
    }
}

extension JSON {
    /// An object of the members that have a value, which is JSON already.
    static func object(_ members: [(String, String?)]) -> String {
        "{ \(lines(members, ", ")) }"
    }

    static func array(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[ \(elements.joined(separator: ", ")) ]"
    }

    static func lines(_ members: [(String, String?)], _ separator: String) -> String {
        members.compactMap { key, text in text.map { "\(key.quoted) : \($0)" } }.joined(separator: separator)
    }

    /// A number of at most nine digits, as ``count()`` reads it.
    static func count(_ number: Int) -> String { String(min(max(number, 0), 999_999_999)) }

    /// A duration in decimal seconds, within what ``duration()`` reads, whatever a clock said.
    static func seconds(_ duration: Duration) -> String {
        min(max(duration / .seconds(1), 0), longestDuration).description
    }
}

/// Seconds since 1970 as `2026-11-21T03:54:28Z`, by arithmetic on the proleptic Gregorian calendar.
///
/// The C library's `strftime` would open the time-zone file to print a date in UTC.
package enum Timestamp {
    private static let daysIn400Years = 146_097

    /// From 1 March of the year -400 to 1970, so that no day of ``years`` has a negative number.
    private static let daysTo1970 = 719_468 + daysIn400Years

    /// The years 0000 to 9999, which are what four digits hold.
    private static let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// A moment outside ``years`` becomes the nearer end of them; seconds are an `Int64`, since an `Int` of a watch may have 32 bits.
    package static func text(_ seconds: Int64) -> String {
        let seconds = min(max(seconds, years.lowerBound), years.upperBound) + Int64(daysTo1970) * 86_400
        let (year, month, day) = date(Int(seconds / 86_400))
        let second = Int(seconds % 86_400)
        let time = "\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60))"
        return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(time)Z"
    }

    /// Gives `nil` for anything but a real date of the years 0000 to 9999 written exactly so.
    static func read(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        func number(_ start: Int, _ length: Int = 2) -> Int {
            bytes[start..<start + length].reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        }
        let time = number(11) * 3_600 + number(14) * 60 + number(17)
        let days = days(number(0, 4), number(5), number(8)) - daysTo1970
        let seconds = Int64(days) * 86_400 + Int64(time)
        // Whatever else stands there comes out otherwise than it went in.
        return Self.text(seconds) == text ? seconds : nil
    }

    // Years are counted from 1 March, so that the leap day is a year's last: then months have fixed offsets.
    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let dayOfEra = days % daysIn400Years
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = days / daysIn400Years * 400 - 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = year + 400 - (month <= 2 ? 1 : 0)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
