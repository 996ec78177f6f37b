extension SQLTokens {
    /// The byte at a distance after the current one; zero after the last byte.
    private func ahead(_ distance: Int) -> UInt8 { offset + distance < count ? bytes[offset + distance] : 0 }

    private func isAt(_ pair: StaticString) -> Bool {
        ahead(0) == pair.utf8Start[0] && ahead(1) == pair.utf8Start[1]
    }

    /// Moves past the next token, blank or comment.
    ///
    /// Returns the token's kind, or `nil` for a blank or a comment.
    mutating func read() -> Kind? {
        let byte = bytes[offset]
        switch byte {
        case _ where SQLScript.isBlank(byte):
            offset += 1
            return nil
        // SQLite skips a byte order mark between tokens, and PostgreSQL doesn't.
        case 0xEF where !isPostgres && ahead(1) == 0xBB && ahead(2) == 0xBF:
            offset += 3
            return nil
        case _ where isAt("--"):
            skipLine()
            return nil
        case _ where isAt("/*"):
            skipComment()
            return nil
        case UInt8(ascii: "'"): return readQuoted(.text, until: byte)
        case UInt8(ascii: "\""): return readQuoted(.quoted, until: byte)
        default: return isPostgres ? readPostgresToken(byte) : readSQLiteToken(byte)
        }
    }

    private mutating func readSQLiteToken(_ byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "`"): return readQuoted(.name, until: byte)
        case UInt8(ascii: "["): return readQuoted(.name, until: UInt8(ascii: "]"))
        case _ where SQLName.folded(byte) == UInt8(ascii: "x") && ahead(1) == UInt8(ascii: "'"):
            offset += 1
            _ = readQuoted(.text, until: UInt8(ascii: "'"))
            return .other
        default: return readWord()
        }
    }

    private mutating func readPostgresToken(_ byte: UInt8) -> Kind {
        switch byte {
        case _ where SQLName.folded(byte) == UInt8(ascii: "e") && ahead(1) == UInt8(ascii: "'"):
            offset += 1
            hasEscapes = true
            return readQuoted(.text, until: UInt8(ascii: "'"))
        case UInt8(ascii: "$"): return readDollarQuoted()
        default: return readWord()
        }
    }

    /// Reads a word, the digits and letters of a number, or one byte that begins neither.
    ///
    /// PostgreSQL's numbers are read digit by digit, so `e5` of `1e5` is read as a word. That would only
    /// matter if a string followed the `e` at once, because `1e'…'` would look like a string with escapes.
    /// No valid statement has that.
    private mutating func readWord() -> Kind {
        let first = bytes[offset]
        offset += 1
        guard Self.isWordByte(first), !isPostgres || !Self.isDigit(first) else { return .other }
        while Self.isWordByte(ahead(0)) { offset += 1 }
        return Self.isDigit(first) ? .other : .word
    }

    /// Skips a comment, up to the end of its line.
    ///
    /// The line feed itself is read next.
    private mutating func skipLine() {
        while offset < count, ahead(0) != UInt8(ascii: "\n"),
            !isPostgres || ahead(0) != UInt8(ascii: "\r")
        {
            offset += 1
        }
    }

    /// Skips a comment between `/*` and `*/`.
    ///
    /// In PostgreSQL, such comments can be nested.
    private mutating func skipComment() {
        let start = offset
        var depth = 0
        while offset < count {
            if isAt("/*"), depth == 0 || isPostgres {
                depth += 1
                offset += 2
            } else if isAt("*/") {
                depth -= 1
                offset += 2
                if depth == 0 { return }
            } else {
                offset += 1
            }
        }
        unterminated = start..<start + 2
    }

    private mutating func readQuoted(_ kind: Kind, until close: UInt8) -> Kind {
        let start = offset
        offset += 1
        while offset < count {
            let byte = bytes[offset]
            let isDoubled = byte == close && close != UInt8(ascii: "]") && ahead(1) == close
            if isDoubled || hasEscapes && kind == .text && byte == UInt8(ascii: "\\") {
                offset += 2
            } else {
                offset += 1
                if byte == close { return kind }
            }
        }
        offset = count
        unterminated = start..<start + 1
        return .other
    }

    /// Reads a string, `$$…$$` or `$tag$…$tag$`, or a single dollar sign, which the server refuses.
    private mutating func readDollarQuoted() -> Kind {
        let start = offset
        offset += 1
        if !Self.isDigit(ahead(0)) { while Self.isNameByte(ahead(0)) { offset += 1 } }
        guard ahead(0) == UInt8(ascii: "$") else {
            offset = start + 1
            return .other
        }
        offset += 1
        let opening = start..<offset
        while offset + opening.count <= count {
            if ahead(0) == UInt8(ascii: "$"), bytes[offset..<offset + opening.count] == bytes[opening] {
                offset += opening.count
                return .text
            }
            offset += 1
        }
        offset = count
        unterminated = opening
        return .other
    }
}
