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
        let tokens = SQLTokens(text(from: 0, to: count))
        var start: Int?
        for (index, token) in tokens.tokens.enumerated() {
            let (offset, end) = (token.range.lowerBound, token.range.upperBound)
            let isSemicolon = tokens.isSign(index, ";")
            if isSemicolon, start == nil { continue }
            if let sign = "?:@$".unicodeScalars.first(where: { $0.value == bytes[offset] }) {
                throw error(
                    .refusedStatement,
                    "A script has no parameters; nothing is bound to \(sign)",
                    at: offset
                )
            }
            let first = start ?? offset
            start = first
            let isLast = index == tokens.tokens.count - 1
            guard isLast || isSemicolon else { continue }
            let text = text(from: first, to: end)
            if !isLast, sqlite3_complete(text) == 0 { continue }
            let refusals = ScriptRefusals()
            if !refusals.allows(SQLTokens(text)) {
                throw error(.refusedStatement, refusals.refusal ?? text, at: first)
            }
            let (line, column) = position(at: first)
            statements.append(
                Statement(text: text, line: line, column: column, droppedTable: refusals.takeDroppedTable())
            )
            start = nil
        }
        return statements
    }
}
