/// The words, texts and signs of a statement, without its blanks and comments.
///
/// It reads as SQLite's own tokenizer does ("SQLite Keywords", "Literal Values", "SQL Comments"). What it
/// cannot read, such as a text without an end, becomes a sign of its own: two statements are then different
/// sooner than equal.
package struct SQLTokens {
    package enum Kind: Hashable {
        /// A keyword or a name without quotes.
        case word
        /// In double quotes: a name, or a text where no such column is.
        case quoted
        /// In brackets or backticks: always a name.
        case name
        /// In single quotes.
        case text
        /// A number, a blob or any single byte.
        case other
    }

    package struct Token {
        package let kind: Kind
        package let range: Range<Int>
    }

    package let bytes: [UInt8]
    package private(set) var tokens: [Token]

    package init(_ text: String) {
        bytes = Array(text.utf8)
        tokens = []
        tokens.reserveCapacity(bytes.count / 4)
        var offset = 0
        while offset < bytes.count {
            let start = offset
            let kind = Self.read(bytes, &offset)
            if let kind { tokens.append(Token(kind: kind, range: start..<offset)) }
        }
    }

    /// The text of a token as it stands there.
    package func text(_ index: Int) -> String { text(in: tokens[index].range) }

    package func text(in range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// True if a token is the keyword, given in capitals; a quoted one never is.
    package func isWord(_ index: Int, _ keyword: StaticString) -> Bool {
        guard index < tokens.count, tokens[index].kind == .word else { return false }
        let range = tokens[index].range
        guard range.count == keyword.utf8CodeUnitCount else { return false }
        for (position, offset) in range.enumerated() {
            guard SQLName.folded(bytes[offset]) == SQLName.folded(keyword.utf8Start[position]) else {
                return false
            }
        }
        return true
    }

    package func isSign(_ index: Int, _ sign: Unicode.Scalar) -> Bool {
        guard index < tokens.count, tokens[index].kind == .other, tokens[index].range.count == 1 else {
            return false
        }
        return UInt32(bytes[tokens[index].range.lowerBound]) == sign.value
    }

    /// The name that a token can be, without its quotes.
    ///
    /// SQLite takes a text in single quotes for a name where only a name can stand.
    package func name(_ index: Int) -> SQLName? {
        guard index < tokens.count else { return nil }
        let token = tokens[index]
        switch token.kind {
        case .other: return nil
        case .word: return SQLName(text(index))
        case .quoted, .name, .text:
            let close = bytes[token.range.upperBound - 1]
            var inside = [UInt8]()
            var offset = token.range.lowerBound + 1
            while offset < token.range.upperBound - 1 {
                inside.append(bytes[offset])
                // A quote inside is written twice; a bracket cannot be.
                offset += bytes[offset] == close ? 2 : 1
            }
            return SQLName(String(decoding: inside, as: UTF8.self))
        }
    }

    /// The text with every name in double quotes in backticks.
    ///
    /// SQLite takes a name in double quotes for a text where there is no such column ("Double-quoted String
    /// Literals Are Accepted"), and never one in backticks.
    package var inBackticks: String {
        var text = ""
        var offset = 0
        for index in tokens.indices where tokens[index].kind == .quoted {
            guard let name = name(index) else { continue }
            text += self.text(in: offset..<tokens[index].range.lowerBound) + name.alwaysName
            offset = tokens[index].range.upperBound
        }
        return text + self.text(in: offset..<bytes.count)
    }

    /// The index after the closing parenthesis that belongs to the opening one at `index`; `nil` without one.
    package func end(ofParenthesisAt index: Int) -> Int? {
        var depth = 0
        for position in index..<tokens.count {
            if isSign(position, "(") { depth += 1 }
            if isSign(position, ")") { depth -= 1 }
            if depth == 0 { return position + 1 }
        }
        return nil
    }
}

extension SQLTokens {
    private static func read(_ bytes: [UInt8], _ offset: inout Int) -> Kind? {
        let byte = bytes[offset]
        func at(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }
        switch byte {
        case _ where SQLScript.isBlank(byte):
            offset += 1
            return nil
        case 0xEF where at(offset + 1) == 0xBB && at(offset + 2) == 0xBF:
            offset += 3
            return nil
        case UInt8(ascii: "-") where at(offset + 1) == byte:
            offset = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            return nil
        case UInt8(ascii: "/") where at(offset + 1) == UInt8(ascii: "*"):
            offset += 2
            while offset < bytes.count, at(offset) != UInt8(ascii: "*") || at(offset + 1) != UInt8(ascii: "/")
            {
                offset += 1
            }
            offset = min(offset + 2, bytes.count)
            return nil
        case UInt8(ascii: "'"): return quoted(.text, byte, bytes, &offset)
        case UInt8(ascii: "\""): return quoted(.quoted, byte, bytes, &offset)
        case UInt8(ascii: "`"): return quoted(.name, byte, bytes, &offset)
        case UInt8(ascii: "["): return quoted(.name, UInt8(ascii: "]"), bytes, &offset)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            guard at(offset + 1) == UInt8(ascii: "'") else { return word(bytes, &offset) }
            offset += 1
            _ = quoted(.text, UInt8(ascii: "'"), bytes, &offset)
            return .other
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(bytes, &offset)
        case UInt8(ascii: ".") where isDigit(at(offset + 1)): return number(bytes, &offset)
        case _ where isOfWord(byte): return word(bytes, &offset)
        default:
            offset += 1
            return .other
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    package static func isOfWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(SQLName.folded(byte))
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private static func word(_ bytes: [UInt8], _ offset: inout Int) -> Kind {
        while offset < bytes.count, isOfWord(bytes[offset]) { offset += 1 }
        return .word
    }

    private static func number(_ bytes: [UInt8], _ offset: inout Int) -> Kind {
        let start = offset
        while offset < bytes.count {
            let isExponent = SQLName.folded(bytes[max(start, offset - 1)]) == UInt8(ascii: "e")
            let isSign = bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-")
            let isHexadecimal =
                start + 1 < bytes.count && SQLName.folded(bytes[start + 1]) == UInt8(ascii: "x")
            guard
                isOfWord(bytes[offset]) || bytes[offset] == UInt8(ascii: ".")
                    || isSign && isExponent && !isHexadecimal
            else { break }
            offset += 1
        }
        return .other
    }

    private static func quoted(_ kind: Kind, _ close: UInt8, _ bytes: [UInt8], _ offset: inout Int) -> Kind {
        var end = offset + 1
        while end < bytes.count {
            let isDoubled = close != UInt8(ascii: "]") && end + 1 < bytes.count && bytes[end + 1] == close
            if bytes[end] == close, !isDoubled {
                offset = end + 1
                return kind
            }
            end += bytes[end] == close ? 2 : 1
        }
        offset = bytes.count
        return .other
    }
}

/// The tables that may be there after some scripts, by every name that these give them.
package struct TablesOfTexts {
    /// A table by its name, and by how the scripts write it, which PostgreSQL reads in its own way.
    package struct Table {
        package let text: String
        package let name: SQLName
    }

    private(set) var tables = [Table]()

    mutating func follow(_ script: String) {
        let tokens = SQLTokens(script)
        for index in tokens.tokens.indices {
            let made: Table?
            if tokens.isWord(index, "CREATE") {
                made = Self.table(tokens, tokens.isWord(index + 1, "VIRTUAL") ? index + 2 : index + 1)
            } else if tokens.isWord(index, "RENAME"), tokens.isWord(index + 1, "TO") {
                made = tokens.name(index + 2).map { Table(text: tokens.text(index + 2), name: $0) }
            } else if tokens.isWord(index, "DROP"), let table = Self.table(tokens, index + 1) {
                tables = tables.filter { $0.name != table.name }
                continue
            } else {
                continue
            }
            if let made, !tables.contains(where: { $0.name == made.name }) { tables.append(made) }
        }
    }

    /// The table named after the word TABLE at an index.
    private static func table(_ tokens: SQLTokens, _ index: Int) -> Table? {
        guard tokens.isWord(index, "TABLE") else { return nil }
        var index = index + 1
        if tokens.isWord(index, "IF") {
            while index < tokens.tokens.count, !tokens.isWord(index, "EXISTS") { index += 1 }
            index += 1
        }
        guard let name = tokens.name(index) else { return nil }
        guard tokens.isSign(index + 1, "."), let last = tokens.name(index + 2) else {
            return Table(text: tokens.text(index), name: name)
        }
        return Table(text: "\(tokens.text(index)).\(tokens.text(index + 2))", name: last)
    }
}
