package import AppMigrationsSQL
internal import CAppMigrationsSQLite

extension SQLScript {
    /// Refuses a script that SQLite would accept, but read differently from what its author meant.
    package func check() throws(SQLError) {
        try refuseZeroBytes()
        // Every text that is refused below contains one of these bytes.
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

    /// Refuses a line end, in the gap between two tokens, that SQLite doesn't read as one.
    ///
    /// "SQL Comments" only end at a line feed.
    private func check(_ range: Range<Int>) throws(SQLError) {
        let first = bytes[range.lowerBound]
        let next = bytes[range.upperBound]
        let isComment = first == UInt8(ascii: "-")
        guard isComment || first == UInt8(ascii: "\r") && next != UInt8(ascii: "\n") else { return }
        var gap = String(decoding: bytes[range], as: UTF8.self)[...]
        // A line end right before a line feed hides nothing.
        while isComment, gap.last?.isNewline == true { gap.removeLast() }
        guard let end = gap.firstIndex(where: \.isNewline) else { return }
        let digits = String(0x1_0000 + gap.unicodeScalars[end].value, radix: 16, uppercase: true).dropFirst()
        throw error(
            .invalidScript,
            "U+\(digits) ends a line for an editor and not for SQLite, whose -- comments go on after it; use a line feed instead",
            at: range.lowerBound + gap[..<end].utf8.count
        )
    }

    /// One statement of a script, for a connection that takes one at a time.
    struct Statement {
        let text: String
        let place: (line: Int, column: Int)
        let droppedTable: String?
    }

    /// The statements of the script; throws if one of them would end a transaction or has parameters.
    ///
    /// SQLite itself finds where a statement ends (`sqlite3_complete`). But the authorizer can't be asked
    /// what a statement does, because there is no connection of SQLite's C interface. So its words are read.
    func awaitedStatements() throws(SQLError) -> [Statement] {
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
                    "A script has no parameters; nothing is bound to \(sign)",
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
            if !refusals.allows(SQLTokens(text)) {
                throw error(.refusedStatement, refusals.refusal ?? text, at: first)
            }
            statements.append(
                Statement(text: text, place: position(at: first), droppedTable: refusals.droppedTable)
            )
            start = nil
        }
        return statements
    }
}
