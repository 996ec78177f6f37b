package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLScript {
    /// Refuses what SQLite would accept and read in another way than its author meant.
    package func check() throws(SQLError) {
        try refuseZeroBytes()
        // One of these stands in all that is refused.
        let isClear = bytes.allSatisfy {
            $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\r")
        }
        if isClear { return }
        var tokens = SQLTokens(unread: self)
        while let (kind, range) = tokens.next() {
            if kind == nil { try check(range) }
        }
        if let opening = tokens.unended, opening.count == 2 {
            throw error(
                .invalidScript,
                "a comment that /* begins and no */ ends; SQLite would skip everything after it",
                at: opening.lowerBound
            )
        }
    }

    /// The first byte from `offset` on that is neither blank nor in a comment: where a statement begins.
    func startOfStatement(from offset: Int) -> Int {
        var tokens = SQLTokens(unread: self, from: offset)
        while let (kind, range) = tokens.next() {
            // Semicolons alone are no statement; SQLite goes on to the next.
            if kind != nil, bytes[range.lowerBound] != UInt8(ascii: ";") { return range.lowerBound }
        }
        return count
    }

    /// Refuses line ends in a blank or a comment that are none for SQLite: "SQL Comments" end at a line feed only.
    private func check(_ gap: Range<Int>) throws(SQLError) {
        let isBlank = gap.count == 1
        guard isBlank || bytes[gap.lowerBound] == UInt8(ascii: "-") else { return }
        for offset in gap {
            let isLone = bytes[offset] == UInt8(ascii: "\r") && bytes[offset + 1] != UInt8(ascii: "\n")
            if isLone, isBlank || offset + 1 < count {
                throw error(
                    .invalidScript,
                    "a carriage return without a line feed; SQLite would take the lines after a -- comment for a part of it",
                    at: offset
                )
            }
            if !isBlank { try refuseLineEnd(inCommentAt: offset) }
        }
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
        let tokens = SQLTokens(self, .sqlite)
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
