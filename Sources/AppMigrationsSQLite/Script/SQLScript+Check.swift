package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLScript {
    /// Refuses a script that SQLite would accept, but probably not read as its author meant it.
    package func check() throws(SQLError) {
        try refuseZeroBytes()
        // The checks below are about comments and carriage returns. A script that contains none of these
        // bytes needn't be read token by token.
        let mayBeRefused = bytes.contains {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\r")
        }
        if !mayBeRefused { return }
        var tokens = SQLTokens(unread: self)
        while let (kind, range) = tokens.next() {
            if kind == nil { try refuseHiddenLineEnd(inGap: range) }
        }
        if let opening = tokens.unterminated, opening.count == 2 {
            throw error(
                .invalidScript,
                "The comment has no closing */. SQLite would skip the rest of the script",
                at: opening.lowerBound
            )
        }
    }

    /// The offset of the next statement: the first byte from `offset` on that is neither a blank nor in a
    /// comment.
    func startOfStatement(from offset: Int) -> Int {
        var tokens = SQLTokens(unread: self, from: offset)
        while let (kind, range) = tokens.next() {
            // SQLite skips a semicolon without a statement.
            if kind != nil, bytes[range.lowerBound] != UInt8(ascii: ";") { return range.lowerBound }
        }
        return count
    }

    /// The first word of the statement that begins at `offset`, in capitals.
    func firstWord(from offset: Int) -> String {
        var tokens = SQLTokens(unread: self, from: offset)
        guard let (_, range) = tokens.next() else { return "" }
        return text(from: range.lowerBound, to: range.upperBound).uppercased()
    }

    /// Refuses a line end that editors show but SQLite doesn't recognize, such as a lone carriage return.
    ///
    /// The range is a gap between two tokens: a blank or a comment. In SQLite, a `--` comment ends only at a
    /// line feed (https://sqlite.org/lang_comment.html).
    private func refuseHiddenLineEnd(inGap range: Range<Int>) throws(SQLError) {
        let first = bytes[range.lowerBound]
        let next = bytes[range.upperBound]
        let isComment = first == UInt8(ascii: "-")
        let isLoneCarriageReturn = first == UInt8(ascii: "\r") && next != UInt8(ascii: "\n")
        guard isComment || isLoneCarriageReturn else { return }
        var gap = String(decoding: bytes[range], as: UTF8.self)[...]
        // Line ends directly before the line feed are removed first, because no text is hidden after them.
        while isComment, gap.last?.isNewline == true { gap.removeLast() }
        guard let end = gap.firstIndex(where: \.isNewline) else { return }
        // Four digits, with leading zeros.
        let digits = String(0x1_0000 + gap.unicodeScalars[end].value, radix: 16, uppercase: true).dropFirst()
        throw error(
            .invalidScript,
            "U+\(digits) ends a line in an editor, but not in SQLite: a -- comment continues after it. Use a line feed instead",
            at: range.lowerBound + gap[..<end].utf8.count
        )
    }

    /// One statement of a script, for a connection that runs one at a time.
    struct Statement {
        let text: String
        let position: (line: Int, column: Int)
        let droppedTable: String?
    }

    /// Splits the script for an asynchronous connection of another library, which runs one statement at a
    /// time.
    ///
    /// Throws if a statement has parameters or may not run in a transaction. SQLite itself finds where a
    /// statement ends (`sqlite3_complete`). But without a connection of SQLite's C interface there is no
    /// authorizer to ask what a statement does. So a statement is refused by its first words.
    func separateStatements() throws(SQLError) -> [Statement] {
        var statements = [Statement]()
        let tokens = SQLTokens(self)
        var start: Int?
        for (index, token) in tokens.tokens.enumerated() {
            let offset = token.range.lowerBound
            let isSemicolon = tokens.isSign(index, ";")
            if isSemicolon, start == nil { continue }
            if let sign = "?:@$".unicodeScalars.first(where: { $0.value == bytes[offset] }) {
                throw error(
                    .refusedStatement,
                    "A script can't have parameters. Write the value instead of \(sign)",
                    at: offset
                )
            }
            let first = start ?? offset
            start = first
            let isLast = index == tokens.tokens.count - 1
            guard isLast || isSemicolon else { continue }
            let text = text(from: first, to: token.range.upperBound)
            if !isLast, sqlite3_complete(text) == 0 { continue }
            let refusals = ScriptRefusals()
            refusals.check(SQLTokens(text))
            if let refusal = refusals.refusal { throw error(.refusedStatement, refusal, at: first) }
            statements.append(
                Statement(text: text, position: position(at: first), droppedTable: refusals.droppedTable)
            )
            start = nil
        }
        return statements
    }
}
