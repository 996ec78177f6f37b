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

    /// The first word of the statement that begins at `offset`, in capitals.
    func firstWord(from offset: Int) -> String {
        var tokens = SQLTokens(unread: self, from: offset)
        guard let (_, range) = tokens.next() else { return "" }
        return text(from: range.lowerBound, to: range.upperBound).uppercased()
    }

    /// Refuses a line end between tokens that is none for SQLite: "SQL Comments" end at a line feed only.
    private func check(_ range: Range<Int>) throws(SQLError) {
        let (first, next) = (bytes[range.lowerBound], bytes[range.upperBound])
        let isComment = first == UInt8(ascii: "-")
        guard isComment || first == UInt8(ascii: "\r") && next != UInt8(ascii: "\n") else { return }
        var gap = String(decoding: bytes[range], as: UTF8.self)[...]
        // One right before a line feed hides nothing.
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
        let line: Int, column: Int
        let droppedTable: String?
    }

    /// The statements, none of which may end a transaction or have parameters.
    ///
    /// SQLite itself tells where one ends (`sqlite3_complete`), and its words what it does: there is no connection of its
    /// C interface to ask.
    func awaitedStatements() throws(SQLError) -> [Statement] {
        var statements = [Statement]()
        let tokens = SQLTokens(self)
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
                Statement(text: text, line: line, column: column, droppedTable: refusals.droppedTable)
            )
            start = nil
        }
        return statements
    }
}
