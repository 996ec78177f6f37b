/// Reads a version's text by its grammar, and writes the bytes that stand for the version when it is compared.
///
/// To compare the bytes of two keys as unsigned numbers is to compare the versions. A component below 240 is the byte v + 2, a
/// larger one the length byte 241 + n and n big-endian bytes; 0x00 ends the key and 0x01 announces the sub-number. Zeros at
/// the release's end are not in it.
struct VersionReader {
    static var subNumberMark: UInt64 { 1 }
    static var smallest: UInt64 { 2 }
    static var firstLong: UInt64 { 240 }
    static var lengthBase: UInt64 { 241 }

    private var head: UInt64 = 0
    private var rest: [UInt8] = []
    private var count = 0
    private var hasSubNumber = false

    /// The components of zero that were read last: they are written when a number comes after them.
    var zeros = 0

    // Consumed like a text that is read: the copies of both take a start of ten versions 970 instructions.
    consuming func version() -> AppVersion {
        AppVersion(head: head, rest: rest, trailingZeros: zeros, hasSubNumber: hasSubNumber)
    }

    /// Reads a text; gives the mistake in it, and the grammar, where ``version()`` isn't what it says.
    mutating func read(_ text: consuming String) -> Message? {
        guard let reason = text.withUTF8({ read($0) }) else { return nil }
        return """
            The version \(text.quoted) can't be read: \(reason). \
            A version is numbers divided by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2.
            """
    }

    mutating func append(_ component: UInt64) {
        if !hasSubNumber {
            if component == 0 { return zeros &+= 1 }
            while zeros > 0 {
                append(byte: Self.smallest)
                zeros &-= 1
            }
        }
        if component < Self.firstLong { return append(byte: component &+ Self.smallest) }
        var left = UInt64(8 - component.leadingZeroBitCount / 8)
        append(byte: Self.lengthBase + left)
        while left > 0 {
            left -= 1
            append(byte: component >> (8 * left) & 0xFF)
        }
    }

    private mutating func append(byte: UInt64) {
        if count < 8 { head |= byte &<< UInt64(56 &- 8 &* count) } else { rest.append(UInt8(byte)) }
        count &+= 1
    }

    /// Reads the bytes of a text; gives the mistake in them, as the end of a sentence.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Message? {
        var index = 0
        let end = bytes.count
        while true {
            let start = index
            var value: UInt64 = 0
            while index < end {
                let digit = UInt64(bytes[index] &- 0x30)
                if digit > 9 { break }
                index &+= 1
                if value > (UInt64.max &- digit) / 10 {
                    return "the number at character \(start + 1) is over \(String(UInt64.max))"
                }
                value = value &* 10 &+ digit
            }
            if index == start {
                return end == 0 ? "it is empty" : "a digit is missing at character \(index + 1)"
            }
            append(value)
            if index == end { return nil }
            switch bytes[index] {
            case 0x2E where !hasSubNumber: break
            case 0x2D where !hasSubNumber:
                hasSubNumber = true
                append(byte: Self.subNumberMark)
            case 0x2D: return "character \(index + 1) begins a second sub-number"
            default: return "character \(index + 1) is not a digit, a dot or a hyphen that may stand there"
            }
            index &+= 1
        }
    }
}
