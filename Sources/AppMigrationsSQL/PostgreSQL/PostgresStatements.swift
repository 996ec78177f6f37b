/// The statements of a PostgreSQL script, for a connection that runs one of them at a time.
///
/// The extended protocol takes one statement in a call ("Extended Query"). A semicolon doesn't end a
/// statement inside parentheses, which may contain the actions of a rule, nor inside `BEGIN ATOMIC … END`.
package struct PostgresStatements {
    /// The statements in order.
    ///
    /// Blanks, comments and single semicolons are left out.
    package private(set) var statements = [Statement]()

    private let script: SQLScript
    private let tokens: SQLTokens
    private var start: Int?
    private var parentheses = 0
    /// The number of open `BEGIN ATOMIC`.
    private var bodies = 0
    private var head = Head.nothing
    private var former = Former.other

    /// The kind of a statement, by its first words.
    private enum Head {
        case nothing, create, createOr, createOrReplace
        case routine, copy, other
    }

    /// The kind of the word before: BEGIN, or FROM and TO.
    private enum Former {
        case begin, direction, other
    }

    /// Splits a script.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/invalidScript`` and the place, for a text, a name
    ///   or a comment without an end, a zero byte, a command of psql, and a COPY from the client or to it.
    package init(_ script: String) throws(SQLError) {
        self.script = SQLScript(script)
        try self.script.refuseZeroBytes(for: "PostgreSQL")
        tokens = SQLTokens(self.script, isPostgres: true)
        for index in tokens.tokens.indices { try follow(index) }
        if let opening = tokens.unended { throw unended(opening) }
        endStatement(at: tokens.tokens.count)
    }

    private mutating func follow(_ index: Int) throws(SQLError) {
        var word = Former.other
        if tokens.isSign(index, ";"), parentheses == 0 {
            // This ends a statement inside a body.
            if bodies > 0 { head = .nothing } else { return endStatement(at: index) }
        } else if tokens.isSign(index, "\\") {
            throw refusal(
                "a command of psql, which the server doesn't know; write SQL instead, or remove it",
                index
            )
        } else if tokens.tokens[index].kind == .word, parentheses == 0 {
            word = try followWord(index)
        } else {
            if tokens.isSign(index, "(") { parentheses += 1 }
            if tokens.isSign(index, ")") { parentheses = max(0, parentheses - 1) }
            if head != .routine, head != .copy { head = .other }
        }
        former = word
        start = start ?? index
    }

    private mutating func followWord(_ index: Int) throws(SQLError) -> Former {
        func isWord(_ keyword: StaticString) -> Bool { tokens.isWord(index, keyword) }
        switch head {
        case .nothing where bodies > 0 && isWord("END"):
            // Any other END belongs to a CASE, or is a name.
            bodies -= 1
            head = .other
        case .nothing: head = isWord("CREATE") ? .create : isWord("COPY") ? .copy : .other
        case .create where isWord("OR"): head = .createOr
        case .createOr where isWord("REPLACE"): head = .createOrReplace
        case .create, .createOrReplace: head = isWord("FUNCTION") || isWord("PROCEDURE") ? .routine : .other
        case .routine where former == .begin && isWord("ATOMIC"):
            bodies += 1
            head = .nothing
        case .copy where former == .direction && (isWord("STDIN") || isWord("STDOUT")):
            throw refusal(
                "COPY from or to the client needs a connection that can transfer rows, which this one can't; write INSERT, or"
                    + " copy the rows in a closure with the database's own library",
                index
            )
        case .routine, .copy: break
        default: head = .other
        }
        if isWord("BEGIN") { return .begin }
        return isWord("FROM") || isWord("TO") ? .direction : .other
    }

    private mutating func endStatement(at end: Int) {
        if let start { statements.append(Statement(script: script, tokens: tokens, places: start..<end)) }
        start = nil
        head = .nothing
        former = .other
    }

    private func refusal(_ message: String, _ index: Int) -> SQLError {
        script.error(.invalidScript, message, at: tokens.tokens[index].range.lowerBound)
    }

    private func unended(_ opening: Range<Int>) -> SQLError {
        let text = tokens.text(in: opening)
        let message =
            switch text {
            case "'": "a text in single quotes that has no end"
            case "\"": "a name in double quotes that has no end"
            case "/*":
                "a comment that /* begins and no */ ends; comments nest in PostgreSQL, so that each /* needs its own */"
            default: "a text that \(text) begins and no \(text) ends"
            }
        return script.error(.invalidScript, message, at: opening.lowerBound)
    }

    /// Refuses statements that begin or end a transaction.
    ///
    /// Only the migrator does that.
    ///
    /// The server would commit the statements before it, and run the rest outside of the transaction.
    func refuseTransactions() throws(SQLError) {
        for statement in statements {
            guard let found = statement.ofTransaction else { continue }
            throw SQLError(
                .refusedStatement,
                "A script in a transaction may not \(found): its transaction is begun and ended for it. Remove the statement"
            ).located(at: statement.place)
        }
    }

    /// A statement without the semicolon that ends it, and without the comments around it.
    package struct Statement {
        fileprivate let script: SQLScript
        fileprivate let tokens: SQLTokens
        fileprivate let places: Range<Int>

        private func offset(_ place: Int) -> Int { tokens.tokens[place].range.lowerBound }

        package var text: String {
            tokens.text(in: offset(places.lowerBound)..<tokens.tokens[places.upperBound - 1].range.upperBound)
        }

        /// The line and the column in the script, both from 1; a column is a Unicode scalar.
        package var place: (line: Int, column: Int) { script.position(at: offset(places.lowerBound)) }

        /// The first words and signs, in capitals.
        private var words: [String] { places.prefix(64).map { tokens.text($0).uppercased() } }

        func begins(with start: String...) -> Bool { words.starts(with: start) }

        /// The words of a statement that begins or ends a transaction; `nil` for any other statement.
        ///
        /// A savepoint stays inside its transaction.
        fileprivate var ofTransaction: String? {
            let words = words
            switch words.first {
            case "BEGIN", "COMMIT", "END", "ABORT": return words[0]
            case "START", "PREPARE":
                return words.dropFirst().first == "TRANSACTION" ? "\(words[0]) TRANSACTION" : nil
            case "ROLLBACK": return words.contains("TO") ? nil : words[0]
            default: return nil
            }
        }

        /// True if the statement may wait for a table's lock in a way that blocks all later readers or
        /// writers of the table.
        var locksTables: Bool {
            ["ALTER", "CREATE", "DROP", "LOCK", "TRUNCATE"].contains(
                tokens.text(places.lowerBound).uppercased()
            )
        }

        /// The index that CREATE INDEX CONCURRENTLY creates, and its table, as the statement names them.
        ///
        /// It is `nil` for any other statement, and if the server chooses the name: then the name differs
        /// each time.
        var index: (name: String, table: String)? {
            let words = words
            guard words.first == "CREATE", let start = words.prefix(4).firstIndex(of: "CONCURRENTLY"),
                words[start - 1] == "INDEX", let on = words.firstIndex(of: "ON"), on > start + 1
            else { return nil }
            let first = words.dropFirst(on + 1).first == "ONLY" ? on + 2 : on + 1
            let end = words.indices.first { $0 > first && ["(", "USING"].contains(words[$0]) } ?? words.count
            func text(_ place: Int) -> String { tokens.text(places.lowerBound + place) }
            return (text(on - 1), (first..<end).map(text).joined())
        }
    }
}
