/// The text of an error, written as an interpolated text.
///
/// A `String` would do: but its interpolation is copied into each place that has one, and this library has a hundred of
/// them. Here each part of a text is one call.
package struct Message: ExpressibleByStringInterpolation, CustomStringConvertible {
    package let description: String

    package init(_ text: String) { description = text }

    package init(stringLiteral text: StaticString) { description = text.description }

    @inline(never)
    package init(stringInterpolation: Interpolation) { description = stringInterpolation.text }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        @inline(never)
        package init(literalCapacity: Int, interpolationCount: Int) {}

        @inline(never)
        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        @inline(never)
        package mutating func appendInterpolation(_ part: String) { text += part }

        @inline(never)
        package mutating func appendInterpolation(_ part: Message) { text += part.description }

        @inline(never)
        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        @inline(never)
        package mutating func appendInterpolation(_ error: any Error) { text += String(describing: error) }
    }
}

extension String {
    /// The text as a JSON string: what RFC 8259 asks to escape is escaped, everything else stands as UTF-8.
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

    /// The number that the text's leading digits write; zero where there are none.
    var number: UInt64 {
        utf8.prefix { 0x30...0x39 ~= $0 }.reduce(0) { $0 &* 10 &+ UInt64($1 - 0x30) }
    }

    /// The text of the bytes, or `nil` where they are not UTF-8.
    ///
    /// It is what the standard library's `String(validating:as:)` gives from macOS 15 and iOS 18 on.
    package init?(validUTF8 bytes: [UInt8]) {
        self.init(decoding: bytes, as: UTF8.self)
        // Bytes that are not UTF-8 were replaced, and the replacement has other bytes.
        if Array(utf8) != bytes { return nil }
    }
}
