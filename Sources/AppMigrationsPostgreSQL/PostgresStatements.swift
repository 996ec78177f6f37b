package import AppMigrationsSQL

/// The statements of a PostgreSQL script, for a connection that runs one of them at a time.
///
/// The extended protocol takes one statement a call ("Extended Query"). A semicolon ends a statement outside of parentheses,
/// since the actions of a rule stand in them, and outside of `BEGIN ATOMIC … END`.
package struct PostgresStatements {
    /// A statement without the semicolon that ends it, and without the comments around it.
    package struct Statement {
        package let text: String
        /// The line and the column in the script, both from 1; a column is a Unicode scalar.
        package let line: Int, column: Int
    }

    /// In order; blanks, comments and semicolons alone are none.
    package private(set) var statements = [Statement]()

    private var tokens: PostgresTokens
    private var start: Int?
    private var end = 0
    private var parentheses = 0
    /// How many `BEGIN ATOMIC` are open.
    private var bodies = 0
    private var head = Head.nothing
    private var former = Former.other
    private var counted = (offset: 0, line: 1, column: 1)

    /// The kind of a statement, by its first words.
    private enum Head {
        case nothing, create, createOr, createOrReplace
        case routine, copy, other
    }

    /// The word before: BEGIN, or FROM and TO.
    private enum Former {
        case begin, direction, other
    }

    /// Splits a script.
    ///
    /// - Throws: ``SQLError`` with the code ``SQLError/Code/invalidScript`` and the place of a text, a name or a comment that
    ///   has no end, of a zero byte, of a command of psql, and of a COPY from the client or to it.
    package init(_ script: String) throws(SQLError) {
        let script = SQLScript(script)
        if let offset = script.bytes[..<script.count].firstIndex(of: 0) {
            throw script.error(.invalidScript, "a zero byte, where PostgreSQL would stop reading", at: offset)
        }
        tokens = PostgresTokens(script)
        while let kind = try tokens.next() { try follow(kind) }
        endStatement()
    }

    private mutating func follow(_ kind: PostgresTokens.Kind) throws(SQLError) {
        var word = Former.other
        switch kind {
        case .semicolon where parentheses == 0:
            // A statement inside of a body has ended.
            if bodies > 0 { head = .nothing } else { return endStatement() }
        case .backslash:
            throw refusal("a command of psql, which the server doesn't know; write it in SQL, or remove it")
        case .word where parentheses == 0: word = try followWord()
        default:
            if kind == .opening { parentheses += 1 }
            if kind == .closing { parentheses = max(0, parentheses - 1) }
            if head != .routine, head != .copy { head = .other }
        }
        former = word
        start = start ?? tokens.range.lowerBound
        end = tokens.range.upperBound
    }

    private mutating func followWord() throws(SQLError) -> Former {
        switch head {
        case .nothing where bodies > 0 && tokens.isWord("END"):
            // Every other END belongs to a CASE, or is a name.
            bodies -= 1
            head = .other
        case .nothing: head = tokens.isWord("CREATE") ? .create : tokens.isWord("COPY") ? .copy : .other
        case .create where tokens.isWord("OR"): head = .createOr
        case .createOr where tokens.isWord("REPLACE"): head = .createOrReplace
        case .create, .createOrReplace:
            head = tokens.isWord("FUNCTION") || tokens.isWord("PROCEDURE") ? .routine : .other
        case .routine where former == .begin && tokens.isWord("ATOMIC"):
            bodies += 1
            head = .nothing
        case .copy where former == .direction && (tokens.isWord("STDIN") || tokens.isWord("STDOUT")):
            throw refusal(
                "COPY from or to the client moves rows over the connection, which has no way for them here; write INSERT, or"
                    + " copy the rows in a closure with the database's own library"
            )
        case .routine, .copy: break
        default: head = .other
        }
        if tokens.isWord("BEGIN") { return .begin }
        return tokens.isWord("FROM") || tokens.isWord("TO") ? .direction : .other
    }

    private mutating func endStatement() {
        if let start {
            let (line, column) = place(of: start)
            let text = String(decoding: tokens.script.bytes[start..<end], as: UTF8.self)
            statements.append(Statement(text: text, line: line, column: column))
        }
        (start, head, former) = (nil, .nothing, .other)
    }

    /// Counts on from the statement before.
    private mutating func place(of offset: Int) -> (line: Int, column: Int) {
        for byte in tokens.script.bytes[counted.offset..<offset] {
            if byte == UInt8(ascii: "\n") {
                (counted.line, counted.column) = (counted.line + 1, 1)
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                counted.column += 1
            }
        }
        counted.offset = offset
        return (counted.line, counted.column)
    }

    private func refusal(_ message: String) -> SQLError {
        tokens.script.error(.invalidScript, message, at: tokens.range.lowerBound)
    }
}

extension PostgresStatements {
    /// Refuses what would begin or end a transaction, which is the migrator's to do.
    ///
    /// The server would commit what came before it, and then run the rest by itself.
    func refuseTransactions() throws(SQLError) {
        for statement in statements {
            let words = try Words(of: statement.text)
            guard let found = words.ofTransaction else { continue }
            throw SQLError(
                .refusedStatement,
                "A script in a transaction may not \(found): its transaction is begun and ended for it. Remove the statement"
            ).with { ($0.line, $0.column) = (statement.line, statement.column) }
        }
    }

    /// The first words and signs of a statement.
    struct Words {
        private var texts = [String]()
        /// In capitals.
        private let words: [String]

        init(of statement: String) throws(SQLError) {
            let script = SQLScript(statement)
            var tokens = PostgresTokens(script)
            while texts.count < 64, try tokens.next() != nil {
                texts.append(script.text(from: tokens.range.lowerBound, to: tokens.range.upperBound))
            }
            words = texts.map { $0.uppercased() }
        }

        func begin(with start: String...) -> Bool { words.starts(with: start) }

        /// The words of a statement that begins or ends a transaction; `nil` for any other one.
        ///
        /// A savepoint stays inside of its transaction.
        var ofTransaction: String? {
            switch words.first {
            case "BEGIN", "COMMIT", "END", "ABORT": words[0]
            case "START", "PREPARE":
                words.dropFirst().first == "TRANSACTION" ? "\(words[0]) TRANSACTION" : nil
            case "ROLLBACK": words.contains("TO") ? nil : words[0]
            default: nil
            }
        }

        /// True if the statement may take the lock of a table for which every reader or writer behind it waits.
        var lockTables: Bool { ["ALTER", "CREATE", "DROP", "LOCK", "TRUNCATE"].contains(words.first) }

        /// The index that CREATE INDEX CONCURRENTLY makes, and its table, as they stand in the statement.
        ///
        /// `nil` for any other statement, and where the server chooses the name, which is another one each time then.
        var index: (name: String, table: String)? {
            guard begin(with: "CREATE"), let start = words.prefix(4).firstIndex(of: "CONCURRENTLY"),
                words[start - 1] == "INDEX", let on = words.firstIndex(of: "ON"), on > start + 1
            else { return nil }
            let first = words.dropFirst(on + 1).first == "ONLY" ? on + 2 : on + 1
            let end = words.indices.first { $0 > first && ["(", "USING"].contains(words[$0]) } ?? words.count
            return (texts[on - 1], texts[first..<end].joined())
        }
    }
}
