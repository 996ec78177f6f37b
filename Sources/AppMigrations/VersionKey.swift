/// What collects the bytes of a version's key.
///
/// Comparing the bytes of two keys as unsigned numbers compares the versions. A component below 240 is the byte v + 2, a
/// larger one the length byte 241 + n and n big-endian bytes; 0x00 ends the key and 0x01 announces the sub-number.
/// Sixteen bytes hold what apps use, so that neither reading nor comparing allocates or calls anything generic: every
/// start does both for every declared version.
protocol VersionKey {
    /// Appends the `count` lowest bytes of `bytes`, the highest first.
    mutating func append(_ bytes: UInt128, count: Int)

    /// Whether bytes were lost, and reading on is no use.
    var isOverfull: Bool { get }
}

extension VersionKey {
    static var subNumberMark: UInt8 { 1 }
    static var smallest: UInt64 { 2 }
    static var firstLong: UInt64 { 240 }
    static var lengthBase: UInt64 { 241 }

    @inline(__always)
    mutating func append(component: UInt64) {
        if component < Self.firstLong {
            return append(UInt128(truncatingIfNeeded: component &+ Self.smallest), count: 1)
        }
        let length = 8 &- component.leadingZeroBitCount &>> 3
        let lead = UInt128(truncatingIfNeeded: Self.lengthBase) &+ UInt128(truncatingIfNeeded: length)
        append(lead &<< (8 &* length) | UInt128(truncatingIfNeeded: component), count: length &+ 1)
    }

    @inline(__always)
    mutating func appendSubNumberMark() { append(UInt128(Self.subNumberMark), count: 1) }
}

/// A key of at most sixteen bytes, in registers.
struct ShortKey: VersionKey {
    private var bytes: UInt128 = 0
    private var count = 0

    static var capacity: Int { 16 }

    @inline(__always)
    var isOverfull: Bool { count > Self.capacity }

    /// The key's bytes at the upper end.
    @inline(__always)
    var head: UInt128 { bytes &<< (8 &* (Self.capacity &- count)) }

    @inline(__always)
    mutating func append(_ bytes: UInt128, count: Int) {
        self.bytes = self.bytes &<< (8 &* count) | bytes
        self.count &+= count
    }
}

/// A key of any length.
extension [UInt8]: VersionKey {
    var isOverfull: Bool { false }

    @inline(__always)
    mutating func append(_ bytes: UInt128, count: Int) {
        var left = count
        while left > 0 {
            left &-= 1
            append(UInt8(truncatingIfNeeded: bytes &>> (8 &* left)))
        }
    }
}

/// A version whose key has at most sixteen bytes: nothing in it is allocated or counted.
struct ShortVersion {
    let head: UInt128
    let trailingZeros: UInt32
    let hasSubNumber: Bool
}
