internal import AppMigrationsSQL

/// The tokens of a PostgreSQL script, as far as they tell where a statement ends.
///
/// It reads as the server's own scanner does ("Lexical Structure"), with `standard_conforming_strings` on, which is the
/// default. A number is not read as one: no statement has a text right behind a number, so that it doesn't matter whether the
/// letter of `1e5` begins a name.
struct PostgresTokens {
    enum Kind {
        /// A keyword, or a name without quotes.
        case word
        case semicolon, opening, closing
        /// No token of the server's.
        case backslash
        /// A text, a name in quotes, or one byte of anything else.
        case other
    }

    let script: SQLScript
    /// Where the token lies that was read last.
    private(set) var range = 0..<0

    private var bytes: [UInt8] { script.bytes }

    init(_ script: SQLScript) { self.script = script }

    /// Reads the next token; `nil` at the end.
    mutating func next() throws(SQLError) -> Kind? {
        var offset = range.upperBound
        try skipBlanksAndComments(&offset)
        guard offset < script.count else { return nil }
        let start = offset
        let kind = try read(&offset)
        range = start..<offset
        return kind
    }

    /// True if the token is this keyword, given in capitals.
    func isWord(_ keyword: StaticString) -> Bool {
        guard range.count == keyword.utf8CodeUnitCount else { return false }
        for (position, offset) in range.enumerated()
        where SQLName.folded(bytes[offset]) != SQLName.folded(keyword.utf8Start[position]) {
            return false
        }
        return true
    }

    private mutating func read(_ offset: inout Int) throws(SQLError) -> Kind {
        // The byte after the last one is zero.
        let (byte, following) = (bytes[offset], bytes[offset + 1])
        switch byte {
        case UInt8(ascii: ";"): return single(.semicolon, &offset)
        case UInt8(ascii: "("): return single(.opening, &offset)
        case UInt8(ascii: ")"): return single(.closing, &offset)
        case UInt8(ascii: "\\"): return single(.backslash, &offset)
        case UInt8(ascii: "'"): try skipText(escapes: false, &offset)
        case UInt8(ascii: "\""):
            try skipQuoted(UInt8(ascii: "\""), escapes: false, "a name in double quotes", &offset)
        case UInt8(ascii: "e") where following == UInt8(ascii: "'"),
            UInt8(ascii: "E") where following == UInt8(ascii: "'"):
            offset += 1
            try skipText(escapes: true, &offset)
        case UInt8(ascii: "$"): try skipDollar(&offset)
        case _ where Self.beginsName(byte):
            while Self.isOfTag(bytes[offset]) || bytes[offset] == UInt8(ascii: "$") { offset += 1 }
            return .word
        default: offset += 1
        }
        return .other
    }

    private func single(_ kind: Kind, _ offset: inout Int) -> Kind {
        offset += 1
        return kind
    }
}

extension PostgresTokens {
    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func beginsName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(SQLName.folded(byte)) || byte == UInt8(ascii: "_")
            || byte >= 0x80
    }

    private static func isOfTag(_ byte: UInt8) -> Bool { beginsName(byte) || isDigit(byte) }

    /// A vertical tab is none: only new servers take it for a blank, and an old one has to be asked.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) && byte != 0x0B
    }

    private func skipBlanksAndComments(_ offset: inout Int) throws(SQLError) {
        while offset < script.count {
            if Self.isBlank(bytes[offset]) {
                offset += 1
            } else if has("--", at: offset) {
                skipLine(&offset)
            } else if has("/*", at: offset) {
                try skipComment(&offset)
            } else {
                return
            }
        }
    }

    private func has(_ pair: StaticString, at offset: Int) -> Bool {
        bytes[offset] == pair.utf8Start[0] && bytes[offset + 1] == pair.utf8Start[1]
    }

    private func skipLine(_ offset: inout Int) {
        while offset < script.count, bytes[offset] != UInt8(ascii: "\n"), bytes[offset] != UInt8(ascii: "\r")
        {
            offset += 1
        }
    }

    /// Comments of this kind nest.
    private func skipComment(_ offset: inout Int) throws(SQLError) {
        let start = offset
        var depth = 0
        while offset < script.count {
            if has("/*", at: offset) {
                depth += 1
                offset += 2
            } else if has("*/", at: offset) {
                depth -= 1
                offset += 2
                if depth == 0 { return }
            } else {
                offset += 1
            }
        }
        throw script.error(
            .invalidScript,
            "a comment that /* begins and no */ ends; comments nest in PostgreSQL, so that each /* needs its own */",
            at: start
        )
    }

    /// A text may go on in a further line: `'one'`, a line feed, `'two'` is one text, and its escapes go on with it.
    private func skipText(escapes: Bool, _ offset: inout Int) throws(SQLError) {
        repeat {
            try skipQuoted(UInt8(ascii: "'"), escapes: escapes, "a text in single quotes", &offset)
        } while continues(&offset)
    }

    /// True if a text goes on behind blanks and `--` comments, which have to begin a line.
    private func continues(_ offset: inout Int) -> Bool {
        var (next, isOtherLine) = (offset, false)
        while next < script.count {
            if has("--", at: next) {
                skipLine(&next)
            } else if Self.isBlank(bytes[next]) || bytes[next] == 0x0B {
                isOtherLine =
                    isOtherLine || bytes[next] == UInt8(ascii: "\n") || bytes[next] == UInt8(ascii: "\r")
                next += 1
            } else {
                break
            }
        }
        guard isOtherLine, bytes[next] == UInt8(ascii: "'") else { return false }
        offset = next
        return true
    }

    private func skipQuoted(
        _ quote: UInt8,
        escapes: Bool,
        _ kind: StaticString,
        _ offset: inout Int
    ) throws(SQLError) {
        let start = offset
        offset += 1
        while offset < script.count {
            switch bytes[offset] {
            case UInt8(ascii: "\\") where escapes: offset += 2
            case quote where bytes[offset + 1] == quote: offset += 2
            case quote:
                offset += 1
                return
            default: offset += 1
            }
        }
        throw script.error(.invalidScript, "\(kind) that has no end", at: start)
    }

    /// `$$…$$` or `$tag$…$tag$`; or a dollar sign by itself, which the server refuses.
    private func skipDollar(_ offset: inout Int) throws(SQLError) {
        let start = offset
        offset += 1
        if Self.beginsName(bytes[offset]) {
            while Self.isOfTag(bytes[offset]) { offset += 1 }
        }
        guard bytes[offset] == UInt8(ascii: "$") else {
            offset = start + 1
            return
        }
        offset += 1
        let tag = bytes[start..<offset]
        while offset + tag.count <= script.count {
            if bytes[offset] == UInt8(ascii: "$"), bytes[offset..<offset + tag.count] == tag {
                offset += tag.count
                return
            }
            offset += 1
        }
        let name = String(decoding: tag, as: UTF8.self)
        throw script.error(.invalidScript, "a text that \(name) begins and no \(name) ends", at: start)
    }
}
