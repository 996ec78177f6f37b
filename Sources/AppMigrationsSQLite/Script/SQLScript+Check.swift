package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLScript {
    /// Refuses what SQLite would accept and read in another way than its author meant.
    package func check() throws(SQLError) {
        try refuseZeroBytes()
        var offset = 0
        while offset < count { offset = try checkedEnd(ofTokenAt: offset) }
    }

    /// The first byte from `offset` on that is neither blank nor in a comment: where a statement begins.
    func startOfStatement(from offset: Int) throws(SQLError) -> Int {
        var offset = offset
        while offset < count {
            // Semicolons alone are no statement; SQLite goes on to the next.
            if Self.isBlank(bytes[offset]) || bytes[offset] == UInt8(ascii: ";") || isComment(at: offset) {
                offset = try checkedEnd(ofTokenAt: offset)
            } else if bytes[offset...].starts(with: Self.byteOrderMark) {
                // SQLite reads one as a blank wherever it stands.
                offset += Self.byteOrderMark.count
            } else {
                return offset
            }
        }
        return count
    }

    /// The first words of a statement without blanks and comments: names, quoted ones without their quotes,
    /// and every other byte by itself.
    func words(from start: Int, to end: Int, atMost limit: Int) throws(SQLError) -> [String] {
        var words = [String]()
        var offset = try startOfStatement(from: start)
        while offset < end, words.count < limit {
            var next = try checkedEnd(ofTokenAt: offset)
            let isQuoted = next > offset + 1
            while !isQuoted, next < end, Self.isOfName(bytes[offset]), Self.isOfName(bytes[next]) {
                next += 1
            }
            let word = isQuoted ? bytes[offset + 1..<next - 1] : bytes[offset..<next]
            words.append(String(decoding: word, as: UTF8.self))
            offset = try startOfStatement(from: next)
        }
        return words
    }

    /// The end of a name, a number, a blank, a comment, a quoted text or one byte of anything else.
    func end(ofWordAt offset: Int) throws(SQLError) -> Int {
        guard Self.isOfName(bytes[offset]) else { return try checkedEnd(ofTokenAt: offset) }
        return bytes[offset..<count].firstIndex { !Self.isOfName($0) } ?? count
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default:
            false
        }
    }

    private func isComment(at offset: Int) -> Bool {
        let pair = (bytes[offset], bytes[offset + 1])
        return pair == (UInt8(ascii: "-"), UInt8(ascii: "-"))
            || pair == (UInt8(ascii: "/"), UInt8(ascii: "*"))
    }

    /// The end of a blank, a comment, a quoted text or one byte of anything else.
    private func checkedEnd(ofTokenAt offset: Int) throws(SQLError) -> Int {
        switch bytes[offset] {
        case UInt8(ascii: "-") where isComment(at: offset):
            return try endOfLineComment(at: offset)
        case UInt8(ascii: "/") where isComment(at: offset):
            return try endOfBlockComment(at: offset)
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
            return end(of: bytes[offset], from: offset + 1)
        case UInt8(ascii: "["):
            return end(of: UInt8(ascii: "]"), from: offset + 1)
        case UInt8(ascii: "\r") where bytes[offset + 1] != UInt8(ascii: "\n"):
            throw loneCarriageReturn(at: offset)
        default:
            return offset + 1
        }
    }

    /// The byte after the closing one; a text that is not closed goes to the end, and SQLite refuses it.
    ///
    /// A doubled quote inside closes one text and opens the next, which comes to the same.
    private func end(of closing: UInt8, from start: Int) -> Int {
        bytes[start..<count].firstIndex(of: closing).map { $0 + 1 } ?? count
    }

    private func endOfLineComment(at start: Int) throws(SQLError) -> Int {
        var offset = start
        while offset < count, bytes[offset] != UInt8(ascii: "\n") {
            if bytes[offset] == UInt8(ascii: "\r"), bytes[offset + 1] != UInt8(ascii: "\n"),
                offset + 1 < count
            {
                throw loneCarriageReturn(at: offset)
            }
            try refuseLineEnd(inCommentAt: offset)
            offset += 1
        }
        return offset
    }

    /// Refuses what Unicode and editors show as the end of a line, and SQLite reads as a part of the comment.
    private func refuseLineEnd(inCommentAt offset: Int) throws(SQLError) {
        let end: (name: String, length: Int)
        switch (bytes[offset], bytes[offset + 1]) {
        case (0x0B, _): end = ("U+000B", 1)
        case (0x0C, _): end = ("U+000C", 1)
        case (0xC2, 0x85): end = ("U+0085", 2)
        case (0xE2, 0x80) where bytes[offset + 2] == 0xA8: end = ("U+2028", 3)
        case (0xE2, 0x80) where bytes[offset + 2] == 0xA9: end = ("U+2029", 3)
        default: return
        }
        let next = offset + end.length
        if next == count || bytes[next] == UInt8(ascii: "\n") || bytes[next] == UInt8(ascii: "\r") { return }
        throw error(
            .invalidScript,
            "\(end.name) in a comment ends a line for an editor and not for SQLite, which would take the rest of the"
                + " line for a part of the comment; put a line feed there",
            at: offset
        )
    }

    private func endOfBlockComment(at start: Int) throws(SQLError) -> Int {
        var offset = start + 2
        while offset + 1 < count {
            if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
                return offset + 2
            }
            offset += 1
        }
        throw error(
            .invalidScript,
            "a comment that /* begins and no */ ends; SQLite would skip everything after it",
            at: start
        )
    }

    /// "SQL Comments" end at a line feed only.
    private func loneCarriageReturn(at offset: Int) -> SQLError {
        error(
            .invalidScript,
            "a carriage return without a line feed; SQLite would take the lines after a -- comment for a part of it",
            at: offset
        )
    }
}

extension SQLScript {
    /// One statement of a script, for a connection that takes one at a time.
    struct Statement {
        let text: String
        let line: Int, column: Int
        let droppedTable: String?
    }

    /// The statements, none of which may end a transaction or have parameters.
    ///
    /// SQLite itself tells where one ends (`sqlite3_complete`), and its words what it does: there is no connection of its
    /// C interface to ask.
    func awaitedStatements() throws(SQLError) -> [Statement] {
        var statements = [Statement]()
        var start = try startOfStatement(from: 0)
        var offset = start
        while start < count {
            if let sign = parameter(at: offset) {
                throw error(
                    .refusedStatement,
                    "A script has no parameters; nothing is bound to \(sign)",
                    at: offset
                )
            }
            let isSemicolon = bytes[offset] == UInt8(ascii: ";")
            offset = try end(ofWordAt: offset)
            guard offset >= count || isSemicolon else { continue }
            let text = text(from: start, to: offset)
            if offset < count, sqlite3_complete(text) == 0 { continue }
            let refusals = ScriptRefusals()
            if !refusals.allows(wordsOf: try words(from: start, to: offset, atMost: 16)) {
                throw error(.refusedStatement, refusals.refusal ?? text, at: start)
            }
            let (line, column) = position(at: start)
            statements.append(
                Statement(text: text, line: line, column: column, droppedTable: refusals.takeDroppedTable())
            )
            start = try startOfStatement(from: offset)
            offset = start
        }
        return statements
    }

    /// The sign with which a parameter begins at a byte outside of texts and comments.
    private func parameter(at offset: Int) -> String? {
        switch bytes[offset] {
        case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
            String(UnicodeScalar(bytes[offset]))
        default: nil
        }
    }
}
