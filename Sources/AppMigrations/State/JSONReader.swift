/// Reads a JSON text byte by byte.
struct JSONReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) { bytes = text }

    mutating func readAll() throws(JSONError) -> JSON {
        skipWhitespace()
        let value = try value(depth: 0)
        skipWhitespace()
        if index != bytes.count { throw expected("the end of the text") }
        return value
    }

    private func expected(_ expectation: Message, at offset: Int? = nil) -> JSONError {
        JSONError(expected: expectation, at: offset ?? index)
    }

    /// The byte to read next, or zero at the end of the text.
    ///
    /// JSON doesn't allow a zero byte anywhere, so zero always means the end or an error.
    private var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    /// Skips the next byte if it is `character`; otherwise returns false.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipWhitespace() {
        while [0x20, 0x0A, 0x0D, 0x09].contains(next) { index += 1 }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        let start = index
        if depth > JSON.depthLimit { throw expected("at most \(JSON.depthLimit) levels of nesting") }
        let content: JSON.Content
        switch next {
        case UInt8(ascii: "{"): content = .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): content = .array(try elements(depth: depth + 1))
        case UInt8(ascii: "\""): content = .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .number(try number())
        case UInt8(ascii: "n"): content = try literal("null", meaning: .null)
        case UInt8(ascii: "t"): content = try literal("true", meaning: .bool(true))
        case UInt8(ascii: "f"): content = try literal("false", meaning: .bool(false))
        default: throw expected("a value")
        }
        return JSON(content: content, offset: start)
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSON] {
        var elements: [JSON] = []
        if skipStart(closedBy: "]") { return elements }
        repeat {
            elements.append(try value(depth: depth))
        } while try skipComma(orEnd: "]")
        return elements
    }

    private mutating func members(depth: Int) throws(JSONError) -> [JSON.Member] {
        var members: [JSON.Member] = []
        if skipStart(closedBy: "}") { return members }
        repeat {
            members.append(try member(depth: depth))
        } while try skipComma(orEnd: "}")
        return members
    }

    private mutating func member(depth: Int) throws(JSONError) -> JSON.Member {
        let start = index
        guard next == UInt8(ascii: "\"") else { throw expected("a key") }
        let key = try string()
        skipWhitespace()
        guard skip(":") else { throw expected("a colon") }
        skipWhitespace()
        let value = try value(depth: depth)
        return JSON.Member(key: key, value: value, bytes: start..<index)
    }

    /// Skips the opening bracket of an array or object.
    ///
    /// If the array or object is empty, also skips the closing bracket and returns true.
    private mutating func skipStart(closedBy closingBracket: Unicode.Scalar) -> Bool {
        index += 1
        skipWhitespace()
        return skip(closingBracket)
    }

    /// Skips the comma after an element and returns true, or skips the closing bracket and returns false.
    private mutating func skipComma(orEnd closingBracket: Unicode.Scalar) throws(JSONError) -> Bool {
        skipWhitespace()
        if skip(closingBracket) { return false }
        guard skip(",") else { throw expected("a comma or a closing bracket") }
        skipWhitespace()
        return true
    }

    private mutating func literal(
        _ text: String,
        meaning content: JSON.Content
    ) throws(JSONError) -> JSON.Content {
        let start = index
        for byte in text.utf8 where !skip(Unicode.Scalar(byte)) { throw expected("a value", at: start) }
        return content
    }

    private mutating func number() throws(JSONError) -> String {
        let start = index
        _ = skip("-")
        let isZero = next == UInt8(ascii: "0")
        let digits = try skipDigits()
        if isZero, digits > 1 { throw expected("a number", at: start) }
        if skip(".") { _ = try skipDigits() }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            _ = try skipDigits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Skips one or more digits, and returns how many there were.
    private mutating func skipDigits() throws(JSONError) -> Int {
        let start = index
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { index += 1 }
        if index == start { throw expected("a digit") }
        return index - start
    }

    private mutating func string() throws(JSONError) -> String {
        let start = index
        var content: [UInt8] = []
        index += 1
        while !skip("\"") {
            guard next >= 0x20 else { throw expected("a closing quotation mark or a valid string character") }
            if next == UInt8(ascii: "\\") {
                content += String(try escape()).utf8
            } else {
                content.append(next)
                index += 1
            }
        }
        guard let string = String(validUTF8: content) else {
            throw expected("a string in valid UTF-8", at: start)
        }
        return string
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = index
        index += 1
        let letter = next
        index += 1
        if letter == UInt8(ascii: "u") {
            var code = hexadecimal()
            // RFC 8259, section 7: a character outside the Basic Multilingual Plane is a surrogate pair,
            // written as two escapes. An unpaired surrogate isn't a character, so it is refused.
            if let high = code, high & 0xFC00 == 0xD800, skip("\\"), skip("u"), let low = hexadecimal() {
                code = low & 0xFC00 == 0xDC00 ? 0x10000 + (high & 0x3FF) << 10 + low & 0x3FF : nil
            }
            if let code, let scalar = Unicode.Scalar(code) { return scalar }
        } else if let position = Array("\"\\/bfnrt".utf8).firstIndex(of: letter) {
            return Unicode.Scalar(Array("\"\\/\u{8}\u{C}\n\r\t".utf8)[position])
        }
        throw expected("a valid JSON escape sequence", at: start)
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
