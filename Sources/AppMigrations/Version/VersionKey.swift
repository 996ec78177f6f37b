/// The bytes that stand for a version when it is compared.
///
/// Comparing the bytes of two keys as unsigned numbers compares the versions. A component below 240 is the byte v + 2, a
/// larger one the length byte 241 + n and n big-endian bytes; 0x00 ends the key and 0x01 announces the sub-number. Zeros at
/// the release's end are not in it.
enum VersionKey {
    static var subNumberMark: UInt8 { 1 }
    static var smallest: UInt64 { 2 }
    static var firstLong: UInt64 { 240 }
    static var lengthBase: UInt64 { 241 }

    /// How many bytes a component of 240 or more takes after its length byte.
    @inline(__always)
    static func length(_ component: UInt64) -> Int { 8 &- component.leadingZeroBitCount &>> 3 }
}

/// Writes a key where there is room for as many bytes as the version's text has, which no key exceeds.
struct VersionKeyWriter {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    var key: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[..<count]) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(component: UInt64) {
        if component < VersionKey.firstLong {
            return append(UInt8(truncatingIfNeeded: component &+ VersionKey.smallest))
        }
        var left = UInt64(truncatingIfNeeded: VersionKey.length(component))
        append(UInt8(truncatingIfNeeded: VersionKey.lengthBase &+ left))
        while left > 0 {
            left &-= 1
            append(UInt8(truncatingIfNeeded: component &>> (8 &* left)))
        }
    }
}

/// What a version has beside its key: the zeros at its release's end, and whether it is a sub-migration.
struct VersionTail {
    private var word: UInt32

    private static var subNumberBit: UInt32 { 1 << 31 }

    /// No version's tail: that of a text which is not a usual version.
    static var none: VersionTail { VersionTail(zeros: 0) }

    @inline(__always)
    init(zeros: Int, hasSubNumber: Bool = false) {
        let zeros = min(zeros, Int(Self.subNumberBit &- 1))
        word = UInt32(truncatingIfNeeded: zeros) | (hasSubNumber ? Self.subNumberBit : 0)
    }

    var zeros: Int { Int(word & ~Self.subNumberBit) }
    var hasSubNumber: Bool { word & Self.subNumberBit != 0 }

    @inline(__always)
    var isNone: Bool { word == 0 }
}

/// A version whose key fits one word: nothing in it is allocated or counted.
struct UsualVersion {
    let key: UInt64
    let tail: VersionTail

    // Every version has either a byte of key or a zero that isn't in it.
    @inline(__always)
    var isNone: Bool { key == 0 && tail.isNone }
}
