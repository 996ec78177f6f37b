/// A version such as `1.4`, or the version of a sub-migration such as `1.4-2`, which belongs to version
/// `1.4`.
///
/// **This is not SemVer**, where a hyphen means *before*: here `1.1-1` comes after `1.1` and before the next
/// version, `1.1 < 1.1-0 < 1.1-1 < 1.1-10 < 1.1.1`.
///
/// A version has one or more numeric components, separated by dots. It can end with a hyphen and one
/// sub-number. Examples are `2`, `1.4`, `2024.01`, `2.0.3.9.6` and `1.1-2`.
///
/// Components are numbers up to `UInt64.max`. Leading zeros are ignored, and missing components count as
/// zero. So `1.0 == 1.0.0`, and the two have the same hash.
public struct AppVersion: Sendable {
    /// The first eight bytes of the key by which versions are compared, with the first byte as the most
    /// significant one.
    ///
    /// ``VersionReader`` writes the key and describes its format. Most versions fit in these eight bytes.
    let head: UInt64

    /// The bytes of the key after the first eight, which are in ``head``.
    ///
    /// It is empty for most versions.
    let rest: [UInt8]

    /// ``trailingZeros`` and ``hasSubNumber``, packed into one word.
    ///
    /// With two stored properties, the compiler would pack and unpack them wherever a version is passed to a
    /// function.
    private let details: UInt32

    init(head: UInt64, rest: [UInt8], trailingZeros: Int, hasSubNumber: Bool) {
        self.head = head
        self.rest = rest
        details = UInt32(truncatingIfNeeded: min(trailingZeros, Int(Int32.max))) << 1 | (hasSubNumber ? 1 : 0)
    }

    /// The number of zero components at the end of the release, as in `1.0.0`.
    ///
    /// The key omits them, so that `1.0 == 1.0.0`. ``description`` needs them.
    var trailingZeros: Int { Int(details >> 1) }

    /// True if the version is a sub-migration such as `1.1-2`.
    var hasSubNumber: Bool { details & 1 == 1 }

    /// The version 0, which is the last-run version of a state in which nothing has run yet.
    package static var zero: AppVersion {
        AppVersion(head: 0, rest: [], trailingZeros: 1, hasSubNumber: false)
    }

    /// The version without its sub-number: `1.1` for `1.1-2`.
    var release: AppVersion {
        if !hasSubNumber { return self }
        var reader = VersionReader()
        for component in numbers.dropLast() { reader.append(component) }
        reader.zeros = trailingZeros
        return reader.version()
    }

    /// True if an app at version `current` is too old to run the migration of this version.
    ///
    /// A sub-migration belongs to its release: an app at `1.1` runs `1.1-3`. But if the app's own version has
    /// a sub-number, that version is a hard limit: an app at `1.1-2` doesn't run `1.1-3`.
    package func exceeds(_ current: AppVersion) -> Bool {
        guard current < self else { return false }
        return !(hasSubNumber && !current.hasSubNumber && release == current)
    }

    /// True if this version begins with the components of `other` before its last one.
    ///
    /// 1.4.2 and 1.4 are on the line of 1.4.1, and 1.5 isn't. The last component is the last one that isn't
    /// zero, since 1.4.0 is 1.4.
    func isOnLine(of other: AppVersion) -> Bool {
        let line = other.release.numbers.dropLast()
        var own = release.numbers.prefix(line.count)
        own += Array(repeating: 0, count: line.count - own.count)
        return own.elementsEqual(line)
    }

    /// The numbers that the key (``head`` and ``rest``) contains: the components of the release without its
    /// trailing zeros, then the sub-number.
    private var numbers: [UInt64] {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: head >> UInt64(56 - 8 * $0)) } + rest
        var numbers: [UInt64] = []
        var index = 0
        while index < bytes.count, bytes[index] != 0 {
            let lead = UInt64(bytes[index])
            index += 1
            if lead == VersionReader.subNumberMark { continue }
            var value = lead &- VersionReader.shortOffset
            if lead > VersionReader.lengthOffset {
                value = 0
                for _ in 0..<(lead - VersionReader.lengthOffset) {
                    value = value << 8 | UInt64(bytes[index])
                    index += 1
                }
            }
            numbers.append(value)
        }
        return numbers
    }
}

extension AppVersion {
    /// Reads a version such as `1.4` or `1.1-2`.
    ///
    /// - Parameter text: One or more components of ASCII digits, separated by dots, then at most one hyphen
    ///   and sub-number. Nothing else: no spaces, no `v`, no `-beta`, no `+5`.
    /// - Throws: ``MigrationError`` with the code ``MigrationError/Code/invalidVersion``. The error says what
    ///   is wrong and at which character, and describes what a version consists of.
    public init(parsing text: some StringProtocol) throws(MigrationError) {
        try self.init(String(text)) { problem in
            MigrationError(.invalidVersion, problem, advice: VersionReader.grammar)
        }
    }

    /// Reads the release from the text of a store or a tag, such as `v2.1.0-beta.2`.
    ///
    /// The release is the numbers at the beginning. What comes after them is left out:
    ///
    /// - a leading `v` and spaces: `v2.1` is `2.1`
    /// - a pre-release: `2.1.0-beta.2`, `2.1rc1` and `2.1~beta` are `2.1.0` and `2.1`. A beta has the version
    ///   of its release, so that it runs the migrations of that release.
    /// - a build: `2.1+5` and `2.1 (27320)` are `2.1`
    /// - **digits after a hyphen: `2.1-5` is `2.1`.** In most tags, they count builds *before* the release.
    ///   As a version of this library, `2.1-5` is a sub-migration, which comes after 2.1.
    ///
    /// A date such as `2026-11-28` is `2026.11.28`.
    ///
    /// A text of digits alone may be a hash, or the number of a build that begins again with each release. So
    /// a release needs a dot or a leading `v`.
    ///
    /// - Throws: ``MigrationError`` with the code ``MigrationError/Code/invalidVersion``.
    public init(releaseOf text: some StringProtocol) throws(MigrationError) {
        let text = String(text)
        let start = text.drop { $0 == " " }
        let hasPrefix = start.first == "v" || start.first == "V"
        var release = start.dropFirst(hasPrefix ? 1 : 0).prefix { "0"..."9" ~= $0 || $0 == "." }
        while release.last == "." { release.removeLast() }
        let date = text.split(separator: "-", omittingEmptySubsequences: false)
        if date.count >= 3, date[0].utf8.count == 4, date[1].utf8.count == 2, date[2].utf8.count == 2 {
            release = date.prefix(3).joined(separator: ".")[...]
        }
        guard hasPrefix || release.contains("."), let version = AppVersion(String(release)) else {
            throw MigrationError(
                .invalidVersion,
                "The text \(text.quoted) doesn't begin with a release, such as 2.1.",
                advice: "Pass a text such as v2.1.0, or write the version as a constant."
            )
        }
        self = version
    }

    /// Reads a version that was passed to a manager.
    ///
    /// `source` is the name of the parameter with a colon, for the error message.
    package init(
        _ text: String,
        of source: @autoclosure () -> Message,
        manager: String
    ) throws(MigrationError) {
        try self.init(text) { problem in
            MigrationError(
                .invalidVersion,
                manager: manager,
                "\(problem) It is the \(source()) of manager \(manager.quoted).",
                advice: VersionReader.grammar
            )
        }
    }

    /// Reads a version.
    ///
    /// If the text isn't valid, `makeError` turns a description of the mistake into the error to throw.
    @inline(never)
    init(_ text: String, orThrow makeError: (Message) -> MigrationError) throws(MigrationError) {
        var reader = VersionReader()
        if let problem = reader.read(text) { throw makeError(problem) }
        self = reader.version()
    }
}

extension AppVersion: Comparable {
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        if left.head != right.head { return left.head < right.head }
        // Comparing the arrays is an expensive generic call, which is needed only if both versions are long.
        if left.rest.isEmpty || right.rest.isEmpty { return left.rest.isEmpty && !right.rest.isEmpty }
        return left.rest.lexicographicallyPrecedes(right.rest)
    }

    public static func == (left: AppVersion, right: AppVersion) -> Bool {
        left.head == right.head && left.rest == right.rest
    }
}

extension AppVersion: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(head)
        if !rest.isEmpty { hasher.combine(rest) }
    }
}

extension AppVersion: LosslessStringConvertible {
    /// The version as it was written, without leading zeros: `1.0.0` stays `1.0.0`, `2024.01` becomes
    /// `2024.1`.
    public var description: String {
        var numbers = numbers
        let subNumber = hasSubNumber ? numbers.popLast() : nil
        numbers += Array(repeating: 0, count: trailingZeros)
        let text = numbers.map { String($0) }.joined(separator: ".")
        return subNumber.map { "\(text)-\($0)" } ?? text
    }

    /// Reads a version, or returns `nil` if the text isn't one.
    ///
    /// ``init(parsing:)`` throws an error that says what is wrong with the text.
    public init?(_ description: String) {
        var reader = VersionReader()
        if reader.read(description) != nil { return nil }
        self = reader.version()
    }
}

extension AppVersion: Codable {
    /// Reads the version from one string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        var reader = VersionReader()
        if let problem = reader.read(try container.decode(String.self)) {
            let text = "\(problem.description) \(VersionReader.grammar.description)"
            throw DecodingError.dataCorruptedError(in: container, debugDescription: text)
        }
        self = reader.version()
    }

    /// Writes the version as one string, its ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Message.Interpolation {
    @inline(never)
    package mutating func appendInterpolation(_ version: AppVersion) {
        appendInterpolation(version.description)
    }
}
