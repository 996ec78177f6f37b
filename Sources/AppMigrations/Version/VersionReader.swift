/// Reads the text of a version, and writes the key by which the version is compared with others.
///
/// Comparing the bytes of two keys as unsigned numbers gives the order of the versions. A key consists of:
/// - for a component v below 240, the byte v + 2;
/// - for a larger component, the byte 241 + n, then the component's n big-endian bytes;
/// - for the hyphen before the sub-number, the byte 0x01;
/// - at the end, the byte 0x00.
///
/// Trailing zero components of the release are not written, so that `1.0` and `1.0.0` have the same key.
struct VersionReader {
    static var subNumberMark: UInt64 { 1 }
    static var smallest: UInt64 { 2 }
    static var firstLong: UInt64 { 240 }
    static var lengthBase: UInt64 { 241 }

    private var head: UInt64 = 0
    private var rest: [UInt8] = []
    private var count = 0
    private var hasSubNumber = false

    /// The number of zero components that were read last.
    ///
    /// They are written to the key only if another number follows.
    var zeros = 0

    // This function and `read` consume their values. Copying them would cost a start with ten declared
    // versions 970 instructions.
    consuming func version() -> AppVersion {
        AppVersion(head: head, rest: rest, trailingZeros: zeros, hasSubNumber: hasSubNumber)
    }

    /// The advice for a text that isn't a version.
    static var grammar: Message {
        "A version is numbers divided by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2."
    }

    /// Reads the text of a version.
    ///
    /// - Returns: `nil` if ``version()`` is now that version; otherwise a message with the mistake.
    mutating func read(_ text: consuming String) -> Message? {
        guard let reason = text.withUTF8({ read($0) }) else { return nil }
        return "The version \(text.quoted) can't be read: \(reason)."
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
        if count < 8 {
            head |= byte &<< UInt64(56 &- 8 &* count)
        } else {
            rest.append(UInt8(byte))
        }
        count &+= 1
    }

    /// Reads the bytes of the text of a version.
    ///
    /// - Returns: The mistake in the text, as a clause without a full stop; `nil` if there is none.
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
            default: return "character \(index + 1) is not a digit, or a dot or hyphen that is allowed there"
            }
            index &+= 1
        }
    }
}
