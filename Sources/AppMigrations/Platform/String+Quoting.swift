extension String {
    /// The text as a JSON string, with its quotation marks.
    ///
    /// It escapes only what RFC 8259 requires.
    package var quoted: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// The number at the beginning of the text; zero if it doesn't begin with a digit.
    var number: UInt64 {
        utf8.prefix { 0x30...0x39 ~= $0 }.reduce(0) { $0 &* 10 &+ UInt64($1 - 0x30) }
    }

    /// Reads UTF-8; `nil` if the bytes are anything else.
    ///
    /// The standard library's `String(validating:as:)` does the same, but only since macOS 15 and iOS 18.
    package init?(validUTF8 bytes: [UInt8]) {
        self.init(decoding: bytes, as: UTF8.self)
        // The initializer replaces bytes that are not UTF-8, so the text then differs from them.
        if Array(utf8) != bytes { return nil }
    }
}
