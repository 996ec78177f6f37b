/// The words, texts and signs of a statement, without its blanks and comments.
///
/// It reads as SQLite's own tokenizer does ("SQLite Keywords", "Literal Values", "SQL Comments"), or as PostgreSQL's
/// ("Lexical Structure") with `standard_conforming_strings` on. What it cannot read, such as a text without an end, becomes a
/// sign of its own: two statements are then different sooner than equal.
package struct SQLTokens: Sendable {
    package enum Kind: Hashable, Sendable {
        /// A keyword or a name without quotes.
        case word
        /// In double quotes: a name, or a text where no such column is.
        case quoted
        /// In brackets or backticks: always a name.
        case name
        /// In single quotes, or between dollar signs.
        case text
        /// A number, a blob or any single byte.
        case other
    }

    package struct Token: Sendable {
        package let kind: Kind
        package let range: Range<Int>
    }

    /// The text, ended by a zero byte.
    package let bytes: [UInt8]
    /// The number of bytes of the text.
    package let count: Int
    package private(set) var tokens: [Token] = []
    /// Where a text, a name or a comment begins that has no end: its opening bytes.
    package internal(set) var unended: Range<Int>?
    /// True if the text is read as PostgreSQL reads it, and not as SQLite does.
    let isPostgres: Bool
    /// Where the next one begins, while they are read.
    var offset: Int
    /// True behind a text of PostgreSQL with escapes, which go on in a further one.
    ///
    /// `E'one'`, a line feed, `'two'` is one text. In the same line the server refuses a second one.
    var hasEscapes = false

    /// The tokens of a script from a byte on, none of which is read yet.
    package init(unread script: SQLScript, from offset: Int = 0, isPostgres: Bool = false) {
        (bytes, count) = (script.bytes, script.count)
        (self.offset, self.isPostgres) = (offset, isPostgres)
    }

    package init(_ script: SQLScript, isPostgres: Bool = false) {
        self.init(unread: script, isPostgres: isPostgres)
        tokens.reserveCapacity(count / 4)
        while let (kind, range) = next() {
            if let kind { tokens.append(Token(kind: kind, range: range)) }
        }
    }

    package init(_ text: String) { self.init(SQLScript(text)) }

    /// Reads one token, or one blank or comment without a kind; `nil` at the end.
    package mutating func next() -> (kind: Kind?, range: Range<Int>)? {
        if offset >= count { return nil }
        let start = offset
        let kind = read()
        if let kind, kind != .text { hasEscapes = false }
        return (kind, start..<offset)
    }

    /// The text of a token as it stands there.
    package func text(_ index: Int) -> String { text(in: tokens[index].range) }

    package func text(in range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// True if a token is the keyword, given in capitals; a quoted one never is.
    package func isWord(_ index: Int, _ keyword: StaticString) -> Bool {
        guard tokens.indices.contains(index), tokens[index].kind == .word else { return false }
        return keyword.withUTF8Buffer { letters in
            bytes[tokens[index].range].elementsEqual(letters) { SQLName.folded($0) == SQLName.folded($1) }
        }
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

    package static func isOfWord(_ byte: UInt8) -> Bool { isOfName(byte) || byte == UInt8(ascii: "$") }

    static func isOfName(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(SQLName.folded(byte))
            || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
