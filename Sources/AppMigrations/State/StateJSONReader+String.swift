/// A string of a JSON text, not yet decoded: most are compared or read as a version where they stand.
struct JSONText {
    let bytes: UnsafeBufferPointer<UInt8>
    let offset: Int
    let hasEscapes: Bool

    @inline(never)
    func equals(_ text: StaticString) -> Bool {
        guard !hasEscapes else { return decoded == text.description }
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count where bytes[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether the text is `name`, byte for byte: Swift's `==` would take two spellings of `é` for one, though
    /// they name two files.
    func equals(utf8Of name: String) -> Bool {
        if hasEscapes { return Array(decoded.utf8) == Array(name.utf8) }
        var name = name
        return name.withUTF8 { name in
            guard name.count == bytes.count else { return false }
            for index in 0..<bytes.count where bytes[index] != name[index] { return false }
            return true
        }
    }

    @inline(__always)
    var version: AppVersion.Reading { hasEscapes ? AppVersion.read(decoded) : AppVersion.read(bytes) }

    /// The text with its escapes resolved; the reader has checked them.
    var decoded: String {
        guard hasEscapes else { return String(decoding: bytes, as: UTF8.self) }
        var units: [UInt16] = []
        var text = ""
        var index = 0
        while index < bytes.count {
            if bytes[index] != 0x5C {
                let start = index
                while index < bytes.count, bytes[index] != 0x5C { index += 1 }
                text += String(decoding: bytes[start..<index], as: UTF8.self)
                continue
            }
            units.removeAll()
            // Escapes that follow each other are decoded together: a surrogate pair is two of them.
            while index < bytes.count, bytes[index] == 0x5C {
                units.append(Self.unit(bytes, at: &index))
            }
            text += String(decoding: units, as: UTF16.self)
        }
        return text
    }

    private static func unit(_ bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> UInt16 {
        let letter = bytes[index + 1]
        index += 2
        switch letter {
        case 0x62: return 0x08
        case 0x66: return 0x0C
        case 0x6E: return 0x0A
        case 0x72: return 0x0D
        case 0x74: return 0x09
        case 0x75:
            var value: UInt16 = 0
            for _ in 0..<4 {
                value = value << 4 | UInt16(bytes[index] & 0x0F) + (bytes[index] > 0x39 ? 9 : 0)
                index += 1
            }
            return value
        default: return UInt16(letter)
        }
    }
}

extension StateJSONReader {
    @inline(__always)
    mutating func version(into version: inout AppVersion) throws(Problem) {
        let text = try string()
        switch text.version {
        case .version(let read): version = read
        case .problem: throw problem(.version, at: text.offset)
        }
    }

    /// Passes a string and the white space after it, checking escapes, control characters and UTF-8.
    mutating func string() throws(Problem) -> JSONText {
        guard next == 0x22, index < bytes.count else { throw problem(.string) }
        let start = index &+ 1
        var end = start
        var hasEscapes = false
        var isASCII = true
        while true {
            guard end < bytes.count else { throw problem(.character, at: end) }
            let byte = bytes[end]
            if byte == 0x22 { break }
            if byte < 0x20 { throw problem(.character, at: end) }
            if byte == 0x5C {
                hasEscapes = true
                try passEscape(at: &end)
                continue
            }
            if byte >= 0x80 { isASCII = false }
            end &+= 1
        }
        let content = UnsafeBufferPointer(rebasing: bytes[start..<end])
        if !isASCII { try checkUTF8(content, at: start) }
        move(to: end &+ 1)
        return JSONText(bytes: content, offset: start, hasEscapes: hasEscapes)
    }

    private func passEscape(at end: inout Int) throws(Problem) {
        let start = end
        guard end + 1 < bytes.count else { throw problem(.escape, at: start) }
        switch bytes[end + 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: end += 2
        case 0x75:
            let unit = try hexadecimal(at: end)
            end += 6
            if unit & 0xF800 != 0xD800 { return }
            // RFC 8259, 7: outside the basic plane, two escapes in a row; half a pair is no character.
            guard unit & 0xFC00 == 0xD800, end + 1 < bytes.count, bytes[end] == 0x5C, bytes[end + 1] == 0x75,
                try hexadecimal(at: end) & 0xFC00 == 0xDC00
            else { throw problem(.escape, at: start) }
            end += 6
        default: throw problem(.escape, at: start)
        }
    }

    /// The unit of the `\uXXXX` at `start`.
    private func hexadecimal(at start: Int) throws(Problem) -> UInt16 {
        guard start + 6 <= bytes.count else { throw problem(.escape, at: start) }
        var value: UInt16 = 0
        for byte in bytes[start + 2..<start + 6] {
            switch byte {
            case 0x30...0x39: value = value << 4 | UInt16(byte - 0x30)
            case 0x41...0x46, 0x61...0x66: value = value << 4 | UInt16(byte & 0x0F + 9)
            default: throw problem(.escape, at: start)
            }
        }
        return value
    }

    private func checkUTF8(_ content: UnsafeBufferPointer<UInt8>, at offset: Int) throws(Problem) {
        if String(validUTF8: content) == nil { throw problem(.utf8, at: offset) }
    }
}
