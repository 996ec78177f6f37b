internal import AppMigrationsSQLite

/// The contents of a database, for a comparison.
struct SQLiteContents {
    let schema: SchemaSnapshot
    let db: SQLiteConnection

    init(ofFile path: String) throws(SQLError) {
        // This access creates no missing database, but it rolls back a hot journal.
        db = try SQLiteConnection.forOwnUse(path: path, access: .writing, busyTimeout: .seconds(5))
        schema = try SchemaSnapshot(of: db).withoutLedgersOfOtherTools
    }

    static func description(of row: [String], columns: [String]) -> String {
        "(\(zip(columns, row).map { "\($0) \(excerpt($1))" }.joined(separator: ", ")))"
    }

    /// The columns that differ in two rows, each with both values.
    static func changes(from old: [String], to new: [String], columns: [String]) -> [String] {
        columns.indices.filter { !old[$0].utf8.elementsEqual(new[$0].utf8) }
            .map { "\(columns[$0]) \(change(from: old[$0], to: new[$0]))" }
    }

    /// A change in words, "new and not old", in which both begin shortly before their first difference.
    static func change(from old: String, to new: String) -> String {
        let same = zip(old.utf8, new.utf8).prefix { $0 == $1 }.count
        var start = max(0, same - 20)
        // Don't begin in the middle of a UTF-8 sequence.
        while start > 0, Array(old.utf8)[start] & 0xC0 == 0x80 { start -= 1 }
        let parts = [new, old].map { text in
            (start > 0 ? "…" : "") + excerpt(String(decoding: text.utf8.dropFirst(start), as: UTF8.self))
        }
        return "\(parts[0]) and not \(parts[1])"
    }

    /// The beginning of a text, on one line.
    static func excerpt(_ text: String) -> String {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
        return line.count > 60 ? line.prefix(60) + "…" : line
    }
}

extension SchemaObject {
    /// The `CREATE` text in one line, without comments and without the quotes of names, which `ALTER TABLE`
    /// adds.
    var line: String {
        let tokens = SQLTokens(sql ?? "")
        var line = ""
        var end = 0
        for (index, token) in tokens.tokens.enumerated() {
            if !line.isEmpty, end < token.range.lowerBound { line += " " }
            let isQuoted = token.kind == .quoted || token.kind == .name
            line += isQuoted ? tokens.name(index)?.text ?? tokens.text(index) : tokens.text(index)
            end = token.range.upperBound
        }
        return line
    }
}
