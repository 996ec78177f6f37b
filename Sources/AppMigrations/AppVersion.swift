/// A version such as `1.4`, or a sub-migration of one such as `1.4-2`.
///
/// **This is not SemVer**, where a hyphen means *before*: here `1.1-1` comes after `1.1` and before the next
/// version, `1.1 < 1.1-0 < 1.1-1 < 1.1-10 < 1.1.1`.
///
/// A version has one or more components of digits, divided by dots, and at most one sub-number after a hyphen:
/// `2`, `1.4`, `2024.01`, `2.0.3.9.6`, `1.1-2`. Components are numbers up to `UInt64.max`; leading zeros don't
/// count, and missing components count as zero, so `1.0 == 1.0.0`, with equal hashes.
public struct AppVersion: Sendable {
    // The order-preserving key: comparing its bytes as unsigned numbers compares the versions. A component below
    // 240 is the byte v + 2, a larger one the length byte 241 + n and n big-endian bytes; 0x00 ends the key and
    // 0x01 announces the sub-number. Sixteen bytes inline hold what apps use, so that neither parsing nor
    // comparing allocates or calls anything generic: every start does both for every declared version.
    let high: UInt64
    let low: UInt64
    let rest: [UInt8]

    /// How many components of zero end the release; only the text shows them.
    let trailingZeros: UInt32

    /// Whether the version is a sub-migration such as `1.1-2`.
    let hasSubNumber: Bool

    init(_ key: KeyBuilder, trailingZeros: Int, hasSubNumber: Bool) {
        high = key.high
        low = key.low
        rest = key.rest
        self.trailingZeros = UInt32(clamping: trailingZeros)
        self.hasSubNumber = hasSubNumber
    }

    /// The version zero, the mark of a state in which nothing ran yet.
    static var zero: AppVersion { AppVersion(KeyBuilder(), trailingZeros: 1, hasSubNumber: false) }

    /// The version without its sub-number: `1.1` of `1.1-2`.
    var release: AppVersion {
        guard hasSubNumber else { return self }
        var key = KeyBuilder()
        for component in releaseComponents { key.append(component: component) }
        return AppVersion(key, trailingZeros: Int(trailingZeros), hasSubNumber: false)
    }

    /// Whether an app at `current` is too old for this version.
    ///
    /// A sub-migration belongs to its release: the app `1.1` runs `1.1-3`. An app whose own version has a
    /// sub-number sets a hard limit.
    func exceeds(_ current: AppVersion) -> Bool {
        guard current < self else { return false }
        return !(hasSubNumber && !current.hasSubNumber && release == current)
    }
}

/// Collects the bytes of a version's key.
struct KeyBuilder {
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0
    private(set) var rest: [UInt8] = []
    private var count = 0

    static var subNumberMark: UInt8 { 1 }
    static var smallest: UInt64 { 2 }
    static var firstLong: UInt64 { 240 }
    static var lengthBase: UInt64 { 241 }

    init() {}

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        if count < 8 {
            high |= UInt64(byte) &<< UInt64(56 &- 8 &* count)
        } else if count < 16 {
            low |= UInt64(byte) &<< UInt64(120 &- 8 &* count)
        } else {
            rest.append(byte)
        }
        count &+= 1
    }

    @inline(__always)
    mutating func append(component: UInt64) {
        if component < Self.firstLong {
            append(UInt8(truncatingIfNeeded: component &+ Self.smallest))
        } else {
            appendLong(component)
        }
    }

    @inline(never)
    private mutating func appendLong(_ component: UInt64) {
        let length = UInt64(8 - component.leadingZeroBitCount / 8)
        append(UInt8(truncatingIfNeeded: Self.lengthBase + length))
        for index in (0..<length).reversed() {
            append(UInt8(truncatingIfNeeded: component >> (8 * index)))
        }
    }
}

extension AppVersion: Comparable {
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        return left.restPrecedes(right)
    }

    public static func == (left: AppVersion, right: AppVersion) -> Bool {
        left.high == right.high && left.low == right.low && left.rest == right.rest
    }

    private func restPrecedes(_ other: AppVersion) -> Bool {
        if rest.isEmpty || other.rest.isEmpty { return rest.isEmpty && !other.rest.isEmpty }
        return rest.lexicographicallyPrecedes(other.rest)
    }
}

extension AppVersion: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
        if !rest.isEmpty { hasher.combine(rest) }
    }
}
