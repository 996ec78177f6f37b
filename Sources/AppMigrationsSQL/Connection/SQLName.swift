/// The name of a table, a column or anything else in a schema, as SQLite compares it.
///
/// "SQLite only understands upper/lower case for ASCII characters" (Expressions), and doesn't know canonical
/// equivalence. So `É` and `é` are different columns. The two ways to encode `é` are different columns as
/// well, although Swift treats them as equal strings.
package struct SQLName: Hashable, Sendable, CustomStringConvertible {
    package let text: String
    /// The bytes, with ASCII capitals in lower case.
    package let key: [UInt8]

    package var description: String { text }

    package init(_ text: String) {
        self.text = text
        var key = Array(text.utf8)
        for index in key.indices { key[index] = Self.folded(key[index]) }
        self.key = key
    }

    package static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    package static func == (left: SQLName, right: SQLName) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { key.withUnsafeBytes { hasher.combine(bytes: $0) } }

    /// True if the name is reserved for SQLite's own objects.
    package var isInternal: Bool { text.lowercased().hasPrefix("sqlite_") }

    /// The name in double quotes.
    package var quoted: String { text.quoted(with: "\"") }
}

extension String {
    /// The text in quotes, each quote in it written twice.
    package func quoted(with quote: Unicode.Scalar) -> String {
        let quote = UInt8(ascii: quote)
        var quoted = [UInt8]()
        quoted.reserveCapacity(utf8.count + 2)
        quoted.append(quote)
        for byte in utf8 {
            quoted.append(byte)
            if byte == quote { quoted.append(quote) }
        }
        quoted.append(quote)
        return String(decoding: quoted, as: UTF8.self)
    }
}
