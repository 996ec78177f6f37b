internal import AppMigrationsSQL

/// The index that a script makes by CREATE INDEX CONCURRENTLY.
///
/// Where that fails the server leaves the index behind, invalid: each write keeps it up to date and no query uses it.
struct PostgresIndex {
    /// As they stand in the statement.
    let name: String, table: String

    /// `nil` for any other statement, and where the server chooses the name, which is another one each time then.
    init?(of statement: String) throws(SQLError) {
        let script = SQLScript(statement)
        var tokens = PostgresTokens(script)
        func has(_ word: StaticString) throws(SQLError) -> Bool {
            try tokens.next() == .word && tokens.isWord(word)
        }
        guard try has("CREATE") else { return nil }
        var isIndex = try has("INDEX")
        if !isIndex, tokens.isWord("UNIQUE") { isIndex = try has("INDEX") }
        guard isIndex, try has("CONCURRENTLY") else { return nil }
        var kind = try tokens.next()
        if kind == .word, tokens.isWord("IF") {
            guard try has("NOT"), try has("EXISTS") else { return nil }
            kind = try tokens.next()
        }
        if kind == .word, tokens.isWord("ON") { return nil }
        name = script.text(from: tokens.range.lowerBound, to: tokens.range.upperBound)
        guard try has("ON") else { return nil }
        kind = try tokens.next()
        if kind == .word, tokens.isWord("ONLY") { kind = try tokens.next() }
        let start = tokens.range.lowerBound
        var end = start
        while let next = kind, next != .opening, !(next == .word && tokens.isWord("USING")) {
            end = tokens.range.upperBound
            kind = try tokens.next()
        }
        table = script.text(from: start, to: end)
    }
}

extension PostgresSession {
    /// Fails where the index that a statement was to make is there and invalid.
    ///
    /// IF NOT EXISTS passes over one that an attempt before has left.
    func refuseInvalidIndex(of statement: String) throws(SQLError) {
        guard let index = try PostgresIndex(of: statement) else { return }
        let rows = try db.query(
            """
            SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE indrelid = to_regclass($1) AND relname = ((parse_ident($2))[1])::name AND NOT indisvalid
            """,
            [.text(index.table), .text(index.name)]
        )
        guard case .text(let name) = rows.first?.first else { return }
        throw SQLError(
            .migrationFailed,
            "The index \(name) is invalid: an attempt that failed has left it, and IF NOT EXISTS passes over it. It was not"
                + " recorded. Run DROP INDEX CONCURRENTLY \(name), or put that statement, with IF EXISTS, before this one"
        )
    }
}
