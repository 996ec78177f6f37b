/// The name of a table, a column or anything else in a schema, as SQLite compares it.
///
/// "SQLite only understands upper/lower case for ASCII characters" (Expressions), and knows no canonical
/// equivalence: `É` and `é` are two columns, and so are the two ways to write either. Strings of Swift
/// would take the latter for one.
struct SQLName: Hashable, Sendable {
    let text: String
    /// The bytes with ASCII capitals made small.
    private let key: [UInt8]

    init(_ text: String) {
        self.text = text
        key = text.utf8.map(Self.folded)
    }

    static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    static func == (left: SQLName, right: SQLName) -> Bool { left.key == right.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// Whether small letters of ASCII stand in it, in any case.
    func contains(_ letters: StaticString) -> Bool {
        let count = letters.utf8CodeUnitCount
        return key.indices.dropLast(count - 1).contains { start in
            (0..<count).allSatisfy { key[start + $0] == letters.utf8Start[$0] }
        }
    }

    /// Whether the name is one that SQLite keeps for itself.
    var isInternal: Bool { key.starts(with: Array("sqlite_".utf8)) }

    /// Whether the two are the same to the last byte.
    func isWritten(like other: SQLName) -> Bool { text.utf8.elementsEqual(other.text.utf8) }

    /// The name in double quotes.
    var quoted: String { Self.quoted(text, with: "\"") }

    /// The name as text, in backticks, which never stand for a string where there is no such column.
    var alwaysName: String { Self.quoted(text, with: "`") }

    /// The name as a person writes it in SQL: without quotes where it needs none.
    var written: String {
        let isPlain = key.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let isWord = key.allSatisfy(SQLTokens.isOfWord) && !key.contains(UInt8(ascii: "$"))
        return isPlain && isWord && !SQLKeywords.all.contains(key[...]) ? text : alwaysName
    }

    static func quoted(_ text: String, with quote: Unicode.Scalar) -> String {
        var quoted = String.UnicodeScalarView([quote])
        for scalar in text.unicodeScalars {
            quoted.append(scalar)
            if scalar == quote { quoted.append(quote) }
        }
        quoted.append(quote)
        return String(quoted)
    }
}

extension SQLName: CustomStringConvertible {
    var description: String { text }
}
