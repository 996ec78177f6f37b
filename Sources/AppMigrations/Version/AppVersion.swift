/// A version such as `1.4`, or a sub-migration of one such as `1.4-2`.
///
/// **This is not SemVer**, where a hyphen means *before*: here `1.1-1` comes after `1.1` and before the next
/// version, `1.1 < 1.1-0 < 1.1-1 < 1.1-10 < 1.1.1`.
///
/// A version has one or more components of digits, divided by dots, and at most one sub-number after a hyphen:
/// `2`, `1.4`, `2024.01`, `2.0.3.9.6`, `1.1-2`. Components are numbers up to `UInt64.max`; leading zeros don't
/// count, and missing components count as zero, so `1.0 == 1.0.0`, with equal hashes.
public struct AppVersion: Sendable {
    // The order-preserving key, see `VersionKey`: its first eight bytes, and what lies beyond them in the rare version
    // that is longer.
    private(set) var head: UInt64
    private(set) var rest: [UInt8]

    // What isn't in the key, in one word: two would be packed and unpacked wherever a version is passed on.
    private var tail: VersionTail

    /// How many components of zero end the release; only the text shows them.
    var trailingZeros: Int { tail.zeros }

    /// Whether the version is a sub-migration such as `1.1-2`.
    var hasSubNumber: Bool { tail.hasSubNumber }

    @inline(__always)
    init(_ version: UsualVersion) {
        head = version.key
        rest = []
        tail = version.tail
    }

    init(_ key: UnsafeBufferPointer<UInt8>, _ tail: VersionTail) {
        head = 0
        for index in 0..<8 { head = head &<< 8 | UInt64(index < key.count ? key[index] : 0) }
        rest = key.count > 8 ? Array(key[8...]) : []
        self.tail = tail
    }

    /// Becomes `version` without giving the rest of the key away and taking it back.
    @inline(__always)
    mutating func set(_ version: UsualVersion) {
        head = version.key
        if !rest.isEmpty { rest = [] }
        tail = version.tail
    }

    /// The version zero, the mark of a state in which nothing ran yet.
    package static var zero: AppVersion { AppVersion(UsualVersion(key: 0, tail: VersionTail(zeros: 1))) }

    /// The version without its sub-number: `1.1` of `1.1-2`.
    var release: AppVersion {
        guard hasSubNumber else { return self }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8 + rest.count) { buffer in
            var writer = VersionKeyWriter(buffer)
            for component in releaseComponents { writer.append(component: component) }
            return AppVersion(writer.key, VersionTail(zeros: trailingZeros))
        }
    }

    /// Whether an app at `current` is too old for this version.
    ///
    /// A sub-migration belongs to its release: the app `1.1` runs `1.1-3`. An app whose own version has a
    /// sub-number sets a hard limit.
    package func exceeds(_ current: AppVersion) -> Bool {
        guard current < self else { return false }
        return !(hasSubNumber && !current.hasSubNumber && release == current)
    }
}

extension AppVersion: Comparable {
    public static func < (left: AppVersion, right: AppVersion) -> Bool {
        if left.head != right.head { return left.head < right.head }
        return left.rest.isEmpty && right.rest.isEmpty ? false : left.restPrecedes(right)
    }

    public static func == (left: AppVersion, right: AppVersion) -> Bool {
        left.head == right.head && left.rest == right.rest
    }

    // A key that ends within the head lies before every longer one of the same head: `rest` has nothing to add.
    @inline(__always)
    func precedes(_ version: UsualVersion) -> Bool { head < version.key }

    @inline(never)
    private func restPrecedes(_ other: AppVersion) -> Bool {
        if rest.isEmpty || other.rest.isEmpty { return rest.isEmpty && !other.rest.isEmpty }
        return rest.lexicographicallyPrecedes(other.rest)
    }
}

extension AppVersion: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(head)
        if !rest.isEmpty { hasher.combine(rest) }
    }
}
