extension SQLTokens {
    /// The byte at a distance after the current one; zero after the last byte.
    private func ahead(_ distance: Int) -> UInt8 { offset + distance < count ? bytes[offset + distance] : 0 }

    private func has(_ pair: StaticString) -> Bool {
        ahead(0) == pair.utf8Start[0] && ahead(1) == pair.utf8Start[1]
    }

    /// Reads the next token; returns `nil` for a blank or a comment.
    mutating func read() -> Kind? {
        let byte = bytes[offset]
        switch byte {
        case _ where SQLScript.isBlank(byte):
            offset += 1
            return nil
        case 0xEF where !isPostgres && ahead(1) == 0xBB && ahead(2) == 0xBF:
            offset += 3
            return nil
        case _ where has("--"):
            skipLine()
            return nil
        case _ where has("/*"):
            skipComment()
            return nil
        case UInt8(ascii: "'"): return quoted(.text, until: byte)
        case UInt8(ascii: "\""): return quoted(.quoted, until: byte)
        default: return isPostgres ? ofPostgres(byte) : ofSQLite(byte)
        }
    }

    private mutating func ofSQLite(_ byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "`"): return quoted(.name, until: byte)
        case UInt8(ascii: "["): return quoted(.name, until: UInt8(ascii: "]"))
        case _ where SQLName.folded(byte) == UInt8(ascii: "x") && ahead(1) == UInt8(ascii: "'"):
            offset += 1
            _ = quoted(.text, until: UInt8(ascii: "'"))
            return .other
        default: return word()
        }
    }

    private mutating func ofPostgres(_ byte: UInt8) -> Kind {
        switch byte {
        case _ where SQLName.folded(byte) == UInt8(ascii: "e") && ahead(1) == UInt8(ascii: "'"):
            offset += 1
            hasEscapes = true
            return quoted(.text, until: UInt8(ascii: "'"))
        case UInt8(ascii: "$"): return dollar()
        default: return word()
        }
    }

    /// Reads a word, the digits and letters of a number, or one byte that begins neither.
    ///
    /// PostgreSQL's numbers are read digit by digit. So the letter of `1e5` is read as a name, which doesn't
    /// matter, because no statement has a text right after a number.
    private mutating func word() -> Kind {
        let first = bytes[offset]
        offset += 1
        guard Self.isOfWord(first), !isPostgres || !Self.isDigit(first) else { return .other }
        while Self.isOfWord(ahead(0)) { offset += 1 }
        return Self.isDigit(first) ? .other : .word
    }

    /// Skips a comment up to the end of its line, which is read next.
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
            if has("/*"), depth == 0 || isPostgres {
                depth += 1
                offset += 2
            } else if has("*/") {
                depth -= 1
                offset += 2
                if depth == 0 { return }
            } else {
                offset += 1
            }
        }
        unended = start..<start + 2
    }

    private mutating func quoted(_ kind: Kind, until close: UInt8) -> Kind {
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
        unended = start..<start + 1
        return .other
    }

    /// Reads a text, `$$…$$` or `$tag$…$tag$`, or a single dollar sign, which the server refuses.
    private mutating func dollar() -> Kind {
        let start = offset
        offset += 1
        if !Self.isDigit(ahead(0)) { while Self.isOfName(ahead(0)) { offset += 1 } }
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
        unended = opening
        return .other
    }
}
