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

    /// What a statement is by its first words.
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
