/// The statements of a PostgreSQL script, for a connection that runs one of them at a time.
///
/// The extended protocol takes one statement in a call ("Extended Query"). A semicolon doesn't end a
/// statement in two cases: inside parentheses, in which CREATE RULE may have several actions, and inside
/// `BEGIN ATOMIC … END`.
package struct PostgresStatements {
    /// The statements in order.
    ///
    /// Empty statements are left out, and so are blanks and comments between statements.
    package private(set) var statements = [Statement]()

    private let script: SQLScript
    private let tokens: SQLTokens
    private var start: Int?
    private var parentheses = 0
    /// How many `BEGIN ATOMIC` are open, one inside the other.
    private var bodies = 0
    private var head = Head.nothing
    private var previousWord = PreviousWord.other

    /// The first words of the current statement, as far as they matter for finding its end.
    private enum Head {
        case nothing, create, createOr, createOrReplace
        case routine, copy, other
    }

    /// The word before the current one: `begin` for BEGIN, `direction` for FROM and TO.
    private enum PreviousWord {
        case begin, direction, other
    }

    /// Splits a script.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/invalidScript`` and the position, for a text, a
    ///   name or a comment without an end, a zero byte, a command of psql, and a COPY from the client or to
    ///   it.
    package init(_ script: String) throws(SQLError) {
        self.script = SQLScript(script)
        try self.script.refuseZeroBytes(for: "PostgreSQL")
        tokens = SQLTokens(self.script, isPostgres: true)
        for index in tokens.tokens.indices { try process(tokenAt: index) }
        if let opening = tokens.unterminated { throw unterminated(opening) }
        endStatement(at: tokens.tokens.count)
    }

    /// Ends the statement at a semicolon, and otherwise updates the state by one token.
    private mutating func process(tokenAt index: Int) throws(SQLError) {
        var word = PreviousWord.other
        if tokens.isSign(index, ";"), parentheses == 0 {
            // Inside BEGIN ATOMIC, a semicolon ends only an inner statement.
            if bodies > 0 { head = .nothing } else { return endStatement(at: index) }
        } else if tokens.isSign(index, "\\") {
            throw refusal(
                "The backslash begins a command of psql, which the server doesn't know. Write SQL instead, or remove it",
                at: index
            )
        } else if tokens.tokens[index].kind == .word, parentheses == 0 {
            word = try process(wordAt: index)
        } else {
            if tokens.isSign(index, "(") { parentheses += 1 }
            if tokens.isSign(index, ")") { parentheses = max(0, parentheses - 1) }
            if head != .routine, head != .copy { head = .other }
        }
        previousWord = word
        start = start ?? index
    }

    /// Updates the state by one word outside of parentheses.
    private mutating func process(wordAt index: Int) throws(SQLError) -> PreviousWord {
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
        case .routine where previousWord == .begin && isWord("ATOMIC"):
            bodies += 1
            head = .nothing
        case .copy where previousWord == .direction && (isWord("STDIN") || isWord("STDOUT")):
            throw refusal(
                "COPY FROM STDIN and COPY TO STDOUT need a connection that can transfer rows, which this one can't. Write INSERT,"
                    + " or copy the rows in a closure with the database's own library",
                at: index
            )
        case .routine, .copy: break
        default: head = .other
        }
        if isWord("BEGIN") { return .begin }
        return isWord("FROM") || isWord("TO") ? .direction : .other
    }

    private mutating func endStatement(at end: Int) {
        if let start { statements.append(Statement(script: script, tokens: tokens, tokenRange: start..<end)) }
        start = nil
        head = .nothing
        previousWord = .other
    }

    private func refusal(_ message: String, at index: Int) -> SQLError {
        script.error(.invalidScript, message, at: tokens.tokens[index].range.lowerBound)
    }

    private func unterminated(_ opening: Range<Int>) -> SQLError {
        let text = tokens.text(in: opening)
        let message =
            switch text {
            case "'": "The string has no closing single quote"
            case "\"": "The name has no closing double quote"
            case "/*":
                "The comment has no closing */. Comments nest in PostgreSQL, so each /* needs its own */"
            default: "The string that begins with \(text) has no closing \(text)"
            }
        return script.error(.invalidScript, message, at: opening.lowerBound)
    }

    /// Throws if the script begins or ends a transaction, which only the migrator does, or sets its isolation
    /// level.
    ///
    /// A COMMIT in the script would commit the statements before it, and the rest would run outside of the
    /// transaction. PostgreSQL sets an isolation level only before the first query of a transaction, and the
    /// migrator's own queries come before the script.
    func refuseTransactions() throws(SQLError) {
        for statement in statements {
            let refusal: String
            if statement.setsIsolationLevel {
                refusal =
                    "A script runs at READ COMMITTED, and may not set another isolation level. Run its statements in a transaction"
                    + " of your own, in a closure of whenMigrating(toVersion:)"
            } else if let command = statement.transactionCommand {
                refusal =
                    "A script in a transaction may not \(command): its transaction is begun and ended for it. Remove the statement"
            } else {
                continue
            }
            throw SQLError(.refusedStatement, refusal).located(at: statement.position)
        }
    }

    /// A statement without the semicolon that ends it, and without the comments around it.
    package struct Statement {
        fileprivate let script: SQLScript
        fileprivate let tokens: SQLTokens
        fileprivate let tokenRange: Range<Int>

        private func offset(ofToken index: Int) -> Int { tokens.tokens[index].range.lowerBound }

        package var text: String {
            let end = tokens.tokens[tokenRange.upperBound - 1].range.upperBound
            return tokens.text(in: offset(ofToken: tokenRange.lowerBound)..<end)
        }

        /// The line and the column in the script, both from 1; a column is a Unicode scalar.
        package var position: (line: Int, column: Int) {
            script.position(at: offset(ofToken: tokenRange.lowerBound))
        }

        /// The first words and signs, in capitals.
        private var words: [String] { tokenRange.prefix(64).map { tokens.text($0).uppercased() } }

        func begins(with start: String...) -> Bool { words.starts(with: start) }

        /// The words of a statement that begins or ends a transaction; `nil` for any other statement.
        ///
        /// A savepoint stays inside its transaction.
        fileprivate var transactionCommand: String? {
            let words = words
            switch words.first {
            case "BEGIN", "COMMIT", "END", "ABORT": return words[0]
            case "START", "PREPARE":
                return words.dropFirst().first == "TRANSACTION" ? "\(words[0]) TRANSACTION" : nil
            case "ROLLBACK": return words.contains("TO") ? nil : words[0]
            default: return nil
            }
        }

        /// True for SET TRANSACTION ISOLATION LEVEL and the other ways to set an isolation level.
        fileprivate var setsIsolationLevel: Bool {
            let words = words
            switch words.first {
            case "SET":
                let name = words.dropFirst().first { !["LOCAL", "SESSION"].contains($0) } ?? ""
                return words.contains("ISOLATION") && ["TRANSACTION", "CHARACTERISTICS"].contains(name)
                    || ["TRANSACTION_ISOLATION", "DEFAULT_TRANSACTION_ISOLATION"].contains(name)
            case "BEGIN", "START": return words.contains("ISOLATION")
            default: return false
            }
        }

        /// True if the statement may wait for a table's lock in a way that blocks all later readers or
        /// writers of the table.
        var locksTables: Bool {
            ["ALTER", "CREATE", "DROP", "LOCK", "TRUNCATE"].contains(
                tokens.text(tokenRange.lowerBound).uppercased()
            )
        }

        /// The index that CREATE INDEX CONCURRENTLY creates, and its table, as the statement names them.
        ///
        /// It is `nil` for any other statement, and for one that names no index: the server would choose
        /// another name at each try.
        var index: (name: String, table: String)? {
            let words = words
            guard words.first == "CREATE", let start = words.prefix(4).firstIndex(of: "CONCURRENTLY"),
                words[start - 1] == "INDEX", let on = words.firstIndex(of: "ON"), on > start + 1
            else { return nil }
            let first = words.dropFirst(on + 1).first == "ONLY" ? on + 2 : on + 1
            let end = words.indices.first { $0 > first && ["(", "USING"].contains(words[$0]) } ?? words.count
            func text(_ word: Int) -> String { tokens.text(tokenRange.lowerBound + word) }
            return (text(on - 1), (first..<end).map(text).joined())
        }
    }
}
