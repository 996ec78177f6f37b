/// Reads JSON (RFC 8259) strictly, byte by byte, without building a tree.
///
/// It is here because a process start was measured: Foundation's decoder costs a start forty times the rest of it.
struct StateJSONReader {
    struct Problem: Error, Equatable {
        let offset: Int
        let expected: Expected

        enum Expected {
            case value, string, integer, number
            case colon, commaOrEnd, key
            case object, array, end
            case character, escape
            case utf8, shallower, version, date
            case newKey, present
            case ourName, positive, fraction

            var text: String {
                switch self {
                case .value: "a value"
                case .string: "a string"
                case .integer: "a whole number"
                case .number: "a number"
                case .colon: "a colon"
                case .commaOrEnd: "a comma or the end of the list"
                case .key: "a key"
                case .object: "an object"
                case .array: "an array"
                case .end: "the end of the text"
                case .character: "a character that may stand in a string"
                case .escape: "an escape that JSON has"
                case .utf8: "UTF-8"
                case .shallower: "less depth"
                case .version: "a version"
                case .date: "a UTC date"
                case .newKey: "a key that wasn't there before"
                case .present: "an object with all its keys"
                case .ourName: "this manager's name"
                case .positive: "a number that isn't negative"
                case .fraction: "a number from 0 to 1"
                }
            }
        }
    }

    static var depthLimit: Int { 64 }

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Where `byte` stands for the first time from here on.
    ///
    /// Without `memchr`: to find that function takes longer than to look through what a start reads at once.
    func first(_ byte: UInt8) -> Int? {
        for offset in index..<bytes.count where bytes[offset] == byte { return offset }
        return nil
    }

    func problem(_ expected: Problem.Expected, at offset: Int? = nil) -> Problem {
        Problem(offset: offset ?? index, expected: expected)
    }

    @inline(__always)
    var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    mutating func move(to offset: Int) {
        index = offset
        skipWhitespace()
    }

    mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index &+= 1
            default: return
            }
        }
    }

    /// Passes `byte` and the white space after it.
    @inline(__always)
    mutating func pass(_ byte: UInt8) -> Bool {
        guard next == byte, index < bytes.count else { return false }
        index &+= 1
        skipWhitespace()
        return true
    }

    mutating func expect(_ byte: UInt8, _ expected: Problem.Expected) throws(Problem) {
        if !pass(byte) { throw problem(expected) }
    }

    /// After a member or an element: `true` for a comma, `false` for the closing byte.
    mutating func continues(until closing: UInt8) throws(Problem) -> Bool {
        if pass(0x2C) { return true }
        if pass(closing) { return false }
        throw problem(.commaOrEnd)
    }

    func expectEnd() throws(Problem) {
        if index != bytes.count { throw problem(.end) }
    }

    /// A key and the colon after it.
    mutating func key() throws(Problem) -> JSONText {
        guard next == 0x22 else { throw problem(.key) }
        let text = try string()
        try expect(0x3A, .colon)
        return text
    }

    mutating func isNull() throws(Problem) -> Bool {
        guard next == 0x6E else { return false }
        try literal("null")
        return true
    }

    mutating func isTrue() throws(Problem) -> Bool {
        let isTrue = next == 0x74
        try literal(isTrue ? "true" : "false")
        return isTrue
    }

    private mutating func literal(_ word: StaticString) throws(Problem) {
        let start = index
        for offset in 0..<word.utf8CodeUnitCount {
            if next != word.utf8Start[offset] { throw problem(.value, at: start) }
            index &+= 1
        }
        skipWhitespace()
    }

    mutating func integer() throws(Problem) -> Int {
        let start = index
        let (length, isWhole) = try number()
        // Eighteen digits fit an Int of 64 bits whatever they are; no number of ours is longer.
        guard isWhole, length <= 18 else { throw problem(.integer, at: start) }
        var value = 0
        for byte in bytes[start..<start &+ length] where byte != 0x2D {
            value = value &* 10 &+ Int(byte &- 0x30)
        }
        return bytes[start] == 0x2D ? -value : value
    }

    mutating func double() throws(Problem) -> Double {
        let start = index
        let (length, _) = try number()
        let text = String(decoding: bytes[start..<start &+ length], as: UTF8.self)
        guard let value = Double(text), value.isFinite else { throw problem(.number, at: start) }
        return value
    }

    /// Passes a number of JSON's grammar; gives its length in bytes and whether it has neither fraction nor exponent.
    private mutating func number() throws(Problem) -> (length: Int, isWhole: Bool) {
        let start = index
        var isWhole = true
        if next == 0x2D { index &+= 1 }
        let digits = index
        try passDigits()
        if bytes[digits] == 0x30, index &- digits > 1 { throw problem(.number, at: start) }
        if next == 0x2E {
            isWhole = false
            index &+= 1
            try passDigits()
        }
        if next == 0x65 || next == 0x45 {
            isWhole = false
            index &+= 1
            if next == 0x2B || next == 0x2D { index &+= 1 }
            try passDigits()
        }
        let length = index &- start
        skipWhitespace()
        return (length, isWhole)
    }

    private mutating func passDigits() throws(Problem) {
        let start = index
        while next &- 0x30 <= 9 { index &+= 1 }
        if index == start { throw problem(.number) }
    }

    /// Passes any value, checking all of it.
    mutating func skipValue(depth: Int = 1) throws(Problem) {
        if depth > Self.depthLimit { throw problem(.shallower) }
        switch next {
        case 0x22: _ = try string()
        case 0x7B:
            index &+= 1
            skipWhitespace()
            if pass(0x7D) { return }
            repeat {
                _ = try key()
                try skipValue(depth: depth + 1)
            } while try continues(until: 0x7D)
        case 0x5B:
            index &+= 1
            skipWhitespace()
            if pass(0x5D) { return }
            repeat { try skipValue(depth: depth + 1) } while try continues(until: 0x5D)
        case 0x74: try literal("true")
        case 0x66: try literal("false")
        case 0x6E: try literal("null")
        case 0x2D, 0x30...0x39: _ = try number()
        default: throw problem(.value)
        }
    }
}
