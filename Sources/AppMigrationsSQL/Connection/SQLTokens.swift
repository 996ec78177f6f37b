/// The words, texts and signs of a statement, without its blanks and comments.
///
/// They are read by the rules of SQLite ("SQLite Keywords", "Literal Values", "SQL Comments"), or by those of
/// PostgreSQL ("Lexical Structure") with `standard_conforming_strings` on. A part that can't be read, such as
/// a string without an end, becomes one token. So if statements are compared by their tokens, they count as
/// different in case of doubt.
package struct SQLTokens: Sendable {
    package enum Kind: Hashable, Sendable {
        /// A keyword or a name without quotes.
        case word
        /// In double quotes: a name, or a text if there is no such column.
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
    /// The opening bytes of a text, a name or a comment that has no end; `nil` if there is none.
    package internal(set) var unterminated: Range<Int>?
    /// True to read the text by the rules of PostgreSQL, false by those of SQLite.
    let isPostgres: Bool
    /// The offset of the next token, while they are read.
    var offset: Int
    /// True after a PostgreSQL string with escapes (`E'…'`), because a string after it may continue it.
    ///
    /// `E'one'`, a line feed and `'two'` are one string, in all of which a backslash begins an escape. On the
    /// same line, the server refuses a second string, so it doesn't matter how that is read.
    var hasEscapes = false

    /// Creates a reader that has read nothing yet.
    ///
    /// Call ``next()`` to read the tokens one by one, from `offset` on.
    package init(unread script: SQLScript, from offset: Int = 0, isPostgres: Bool = false) {
        bytes = script.bytes
        count = script.count
        self.offset = offset
        self.isPostgres = isPostgres
    }

    package init(_ script: SQLScript, isPostgres: Bool = false) {
        self.init(unread: script, isPostgres: isPostgres)
        tokens.reserveCapacity(count / 4)
        while let (kind, range) = next() {
            if let kind { tokens.append(Token(kind: kind, range: range)) }
        }
    }

    package init(_ text: String) { self.init(SQLScript(text)) }

    /// Reads the next token, blank or comment; `nil` at the end of the text.
    ///
    /// The kind is `nil` for a blank or a comment.
    package mutating func next() -> (kind: Kind?, range: Range<Int>)? {
        if offset >= count { return nil }
        let start = offset
        let kind = read()
        if let kind, kind != .text { hasEscapes = false }
        return (kind, start..<offset)
    }

    /// The text of a token, with its quotes.
    package func text(_ index: Int) -> String { text(in: tokens[index].range) }

    package func text(in range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// True if a token is the given keyword, in upper or lower case.
    ///
    /// A token in quotes is never a keyword.
    package func isWord(_ index: Int, _ keyword: StaticString) -> Bool {
        guard tokens.indices.contains(index), tokens[index].kind == .word else { return false }
        return keyword.withUTF8Buffer { letters in
            bytes[tokens[index].range].elementsEqual(letters) { SQLName.folded($0) == SQLName.folded($1) }
        }
    }

    /// True if a token is the given sign, for example a comma.
    package func isSign(_ index: Int, _ sign: Unicode.Scalar) -> Bool {
        guard index < tokens.count, tokens[index].kind == .other, tokens[index].range.count == 1 else {
            return false
        }
        return UInt32(bytes[tokens[index].range.lowerBound]) == sign.value
    }

    /// A token as a name, without its quotes; `nil` if it can't be a name.
    ///
    /// A string in single quotes can be a name, because SQLite reads it as a name if only a name is allowed
    /// there.
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
                // A quote inside is written twice. A name in brackets can't contain a closing bracket.
                offset += bytes[offset] == close ? 2 : 1
            }
            return SQLName(String(decoding: inside, as: UTF8.self))
        }
    }

    package static func isWordByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "$") }

    static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(SQLName.folded(byte))
            || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
