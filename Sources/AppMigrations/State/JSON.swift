/// A value of a JSON text (RFC 8259), which is read strictly: no byte of it is passed over or mended.
///
/// It is here because a process start was measured: to link Foundation makes one 1.27 times slower, and its first decoding takes
/// forty times as long as all that a start reads.
final class JSON: Sendable {
    enum Content: Sendable {
        case null
        case flag(Bool)
        case number(String)
        case text(String)
        case array([JSON])
        case object([Member])
    }

    struct Member: Sendable {
        let key: String
        let value: JSON
        /// Where the member stands in the text, without the white space behind it.
        let bytes: Range<Int>
    }

    let content: Content
    /// The first byte of the value.
    let offset: Int
    let location: StateLocation

    static var depthLimit: Int { 64 }

    fileprivate init(_ content: Content, at offset: Int, of location: StateLocation) {
        (self.content, self.offset, self.location) = (content, offset, location)
    }
}

extension JSON {
    /// Reads a whole text.
    ///
    /// - Throws: ``MigrationError`` with the code `stateCorrupted`, which names the first byte that can't be there.
    static func read(_ text: [UInt8], at location: StateLocation) throws(MigrationError) -> JSON {
        var reader = JSONReader(bytes: text, location: location)
        reader.passSpace()
        let value = try reader.value(0)
        reader.passSpace()
        if reader.index != text.count { throw reader.expected("the end of the text") }
        return value
    }
}

/// Reads JSON byte by byte.
private struct JSONReader {
    let bytes: [UInt8]
    let location: StateLocation
    var index = 0

    func expected(_ what: Message, at offset: Int? = nil) -> MigrationError {
        .corrupted(location, "expected \(what) at byte \(offset ?? index)")
    }

    /// The byte to read next; zero, which no rule of JSON has, at the end.
    private var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    private mutating func pass(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    mutating func passSpace() {
        while [0x20, 0x0A, 0x0D, 0x09].contains(next) { index += 1 }
    }

    mutating func value(_ depth: Int) throws(MigrationError) -> JSON {
        let start = index
        if depth > JSON.depthLimit { throw expected("less depth") }
        let content: JSON.Content
        switch next {
        case UInt8(ascii: "{"):
            content = .object(try list("}") { reader throws(MigrationError) in try reader.member(depth + 1) })
        case UInt8(ascii: "["):
            content = .array(try list("]") { reader throws(MigrationError) in try reader.value(depth + 1) })
        case UInt8(ascii: "\""): content = .text(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .number(try number())
        case UInt8(ascii: "n"): content = try word("null", .null)
        case UInt8(ascii: "t"): content = try word("true", .flag(true))
        case UInt8(ascii: "f"): content = try word("false", .flag(false))
        default: throw expected("a value")
        }
        return JSON(content, at: start, of: location)
    }

    private mutating func member(_ depth: Int) throws(MigrationError) -> JSON.Member {
        let start = index
        guard next == UInt8(ascii: "\"") else { throw expected("a key") }
        let key = try text()
        passSpace()
        guard pass(":") else { throw expected("a colon") }
        passSpace()
        let value = try value(depth)
        return JSON.Member(key: key, value: value, bytes: start..<index)
    }

    /// Passes an opening bracket, what stands behind it, divided by commas, and the closing one.
    private mutating func list<Element>(
        _ closing: Unicode.Scalar,
        _ element: (inout JSONReader) throws(MigrationError) -> Element
    ) throws(MigrationError) -> [Element] {
        var elements: [Element] = []
        index += 1
        passSpace()
        if pass(closing) { return elements }
        while true {
            elements.append(try element(&self))
            passSpace()
            if pass(closing) { return elements }
            guard pass(",") else { throw expected("a comma or the end of the list") }
            passSpace()
        }
    }

    private mutating func word(_ text: String, _ word: JSON.Content) throws(MigrationError) -> JSON.Content {
        let start = index
        for byte in text.utf8 where !pass(Unicode.Scalar(byte)) { throw expected("a value", at: start) }
        return word
    }

    private mutating func number() throws(MigrationError) -> String {
        let start = index
        _ = pass("-")
        let isZero = next == UInt8(ascii: "0")
        let digits = try passDigits()
        if isZero, digits > 1 { throw expected("a number", at: start) }
        if pass(".") { _ = try passDigits() }
        if pass("e") || pass("E") {
            _ = pass("+") || pass("-")
            _ = try passDigits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func passDigits() throws(MigrationError) -> Int {
        let start = index
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { index += 1 }
        if index == start { throw expected("a digit") }
        return index - start
    }

    private mutating func text() throws(MigrationError) -> String {
        let start = index
        var text: [UInt8] = []
        index += 1
        while !pass("\"") {
            guard next >= 0x20 else { throw expected("a character that may stand in a string") }
            if next == UInt8(ascii: "\\") {
                text += String(try escape()).utf8
            } else {
                text.append(next)
                index += 1
            }
        }
        guard let text = String(validUTF8: text) else { throw expected("a string in UTF-8", at: start) }
        return text
    }

    private mutating func escape() throws(MigrationError) -> Unicode.Scalar {
        let start = index
        index += 1
        let letter = next
        index += 1
        if letter == UInt8(ascii: "u") {
            var code = hexadecimal()
            // RFC 8259, 7: outside the basic plane, two escapes in a row; half a pair is no character.
            if let high = code, high & 0xFC00 == 0xD800, pass("\\"), pass("u"), let low = hexadecimal() {
                code = low & 0xFC00 == 0xDC00 ? 0x10000 + (high & 0x3FF) << 10 + low & 0x3FF : nil
            }
            if let code, let scalar = Unicode.Scalar(code) { return scalar }
        } else if let place = Array("\"\\/bfnrt".utf8).firstIndex(of: letter) {
            return Unicode.Scalar(Array("\"\\/\u{8}\u{C}\n\r\t".utf8)[place])
        }
        throw expected("an escape that JSON has", at: start)
    }

    private mutating func hexadecimal() -> UInt32? {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(next)).hexDigitValue else { return nil }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        return code
    }
}
