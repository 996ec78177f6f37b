/// A version such as `1.4`, or a sub-migration of one such as `1.4-2`.
///
/// **This is not SemVer**, where a hyphen means *before*: here `1.1-1` comes after `1.1` and before the next
/// version, `1.1 < 1.1-0 < 1.1-1 < 1.1-10 < 1.1.1`.
///
/// A version has one or more components of digits, divided by dots, and at most one sub-number after a hyphen:
/// `2`, `1.4`, `2024.01`, `2.0.3.9.6`, `1.1-2`. Components are numbers up to `UInt64.max`; leading zeros don't
/// count, and missing components count as zero, so `1.0 == 1.0.0`, with equal hashes.
public struct AppVersion: Sendable {
    /// The first eight bytes of the key, which ``VersionReader`` writes, and those that few versions have beyond them.
    let head: UInt64
    let rest: [UInt8]

    // The rest beside the key, in one word: two would be packed and unpacked wherever a version is passed on.
    private let tail: UInt32

    init(head: UInt64, rest: [UInt8], trailingZeros: Int, hasSubNumber: Bool) {
        (self.head, self.rest) = (head, rest)
        tail = UInt32(truncatingIfNeeded: min(trailingZeros, Int(Int32.max))) << 1 | (hasSubNumber ? 1 : 0)
    }

    /// How many components of zero end the release: the text shows them, and the key doesn't have them.
    var trailingZeros: Int { Int(tail >> 1) }

    /// True if the version is a sub-migration such as `1.1-2`.
    var hasSubNumber: Bool { tail & 1 == 1 }

    /// The version zero, the mark of a state in which nothing ran yet.
    package static var zero: AppVersion {
        AppVersion(head: 0, rest: [], trailingZeros: 1, hasSubNumber: false)
    }

    /// The version without its sub-number: `1.1` of `1.1-2`.
    var release: AppVersion {
        if !hasSubNumber { return self }
        var reader = VersionReader()
        for component in numbers.dropLast() { reader.append(component) }
        reader.zeros = trailingZeros
        return reader.version()
    }

    /// True if an app at `current` is too old for this version.
    ///
    /// A sub-migration belongs to its release: the app `1.1` runs `1.1-3`. An app whose own version has a
    /// sub-number sets a hard limit.
    package func exceeds(_ current: AppVersion) -> Bool {
        guard current < self else { return false }
        return !(hasSubNumber && !current.hasSubNumber && release == current)
    }

    /// The numbers that the key stands for: those of the release without the zeros at its end, then the sub-number.
    private var numbers: [UInt64] {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: head >> UInt64(56 - 8 * $0)) } + rest
        var numbers: [UInt64] = []
        var index = 0
        while index < bytes.count, bytes[index] != 0 {
            let lead = UInt64(bytes[index])
            index += 1
            if lead == VersionReader.subNumberMark { continue }
            var value = lead &- VersionReader.smallest
            if lead > VersionReader.lengthBase {
                value = 0
                for _ in 0..<(lead - VersionReader.lengthBase) {
                    value = value << 8 | UInt64(bytes[index])
                    index += 1
                }
            }
            numbers.append(value)
        }
        return numbers
    }
}

extension AppVersion: Comparable {
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        if left.head != right.head { return left.head < right.head }
        // Comparing two arrays is a generic call, which nearly no version needs.
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
    /// The version as it was written, without leading zeros: `1.0.0` stays `1.0.0`, `2024.01` gives `2024.1`.
    public var description: String {
        var numbers = numbers
        let subNumber = hasSubNumber ? numbers.popLast() : nil
        numbers += Array(repeating: 0, count: trailingZeros)
        let text = numbers.map { String($0) }.joined(separator: ".")
        return subNumber.map { "\(text)-\($0)" } ?? text
    }

    /// Reads a version, or gives `nil` where ``init(parsing:)`` says what is wrong.
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: problem.description)
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
