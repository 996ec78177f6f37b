internal import AppMigrationsSQL
internal import CAppMigrationsSQLite

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
