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

    /// The number that is added to a component below ``firstLong`` to get its byte.
    static var shortOffset: UInt64 { 2 }

    /// The smallest component that is written with a length byte.
    ///
    /// Smaller components are one byte each, from 2 to 241.
    static var firstLong: UInt64 { 240 }

    /// The number that is added to the number of a long component's bytes to get its length byte, 242 to 249.
    static var lengthOffset: UInt64 { 241 }

    private var head: UInt64 = 0
    private var rest: [UInt8] = []
    private var count = 0
    private var hasSubNumber = false

    /// The number of zero components since the last component that isn't zero.
    ///
    /// They are written to the key only when a component follows that isn't zero.
    var zeros = 0

    // `version()` consumes the reader, and `read(_:)` consumes its text. Copying them would cost a start with
    // ten declared versions 970 instructions.
    consuming func version() -> AppVersion {
        AppVersion(head: head, rest: rest, trailingZeros: zeros, hasSubNumber: hasSubNumber)
    }

    /// The advice in errors about a text that isn't a version.
    static var grammar: Message {
        """
        A version consists of numbers separated by dots, then at most one hyphen and sub-number: 2, 1.4, 1.1-2. A beta has the \
        version of its release; what changes between two betas is 2.0-1, 2.0-2.
        """
    }

    /// Reads the text of a version.
    ///
    /// - Returns: A message that describes the mistake; `nil` if the text is valid, so that ``version()``
    ///   returns its version.
    mutating func read(_ text: consuming String) -> Message? {
        guard let reason = text.withUTF8({ read($0) }) else { return nil }
        return "The version \(text.quoted) can't be read: \(reason)."
    }

    mutating func append(_ component: UInt64) {
        if !hasSubNumber {
            if component == 0 { return zeros &+= 1 }
            while zeros > 0 {
                append(byte: Self.shortOffset)
                zeros &-= 1
            }
        }
        if component < Self.firstLong { return append(byte: component &+ Self.shortOffset) }
        var left = UInt64(8 - component.leadingZeroBitCount / 8)
        append(byte: Self.lengthOffset + left)
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
    /// - Returns: A description of the mistake, without a full stop; `nil` if the text is valid.
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
                    return "the number at character \(start + 1) is greater than \(String(UInt64.max))"
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
            case 0x2D: return "character \(index + 1) is a second hyphen, and a version has at most one"
            default: return "character \(index + 1) is not allowed there"
            }
            index &+= 1
        }
    }
}
