/// Brings the texts of two schemas into one form, to tell whether they mean the same.
///
/// It is careful in one direction: what it does not understand differs. A name keeps the case in which it
/// is written, since the names of result columns do; other words of a table or an index, such as
/// types, and keywords everywhere do not.
struct SchemaForm {
    /// The names of tables, columns and the like, to the last byte.
    private let names: Set<[UInt8]>

    init(_ first: SchemaSnapshot, _ second: SchemaSnapshot) {
        var names = Set<[UInt8]>()
        for object in first.objects + second.objects {
            names.insert(Array(object.name.text.utf8))
            guard object.kind == .table, let sql = object.sql, let statement = CreateStatement(sql) else {
                continue
            }
            for item in statement.items {
                if let name = statement.tokens.name(item.lowerBound) { names.insert(Array(name.text.utf8)) }
            }
        }
        self.names = names
    }

    func areSame(_ first: SchemaObject, _ second: SchemaObject) -> Bool {
        if first.isWritten(like: second) { return true }
        guard let sql = first.sql, let text = second.sql, first.kind == second.kind else { return false }
        return words(of: sql, first.kind) == words(of: text, second.kind)
    }

    /// The tokens of a statement, each in the one way to write it.
    private func words(of sql: String, _ kind: SchemaObject.Kind) -> [[UInt8]] {
        let tokens = SQLTokens(sql)
        return tokens.tokens.indices.map { index in
            let token = tokens.tokens[index]
            let text = Array(tokens.bytes[token.range])
            // DEFAULT takes a word for a text.
            if index > 0, tokens.isWord(index - 1, "DEFAULT") { return text }
            switch token.kind {
            case .text, .other: return text
            case .word: return word(text, isQuoted: false, kind)
            case .quoted, .name:
                let name = tokens.name(index).map { Array($0.text.utf8) } ?? text
                // In double quotes it may be a text.
                if token.kind == .quoted, !names.contains(name) { return text }
                return word(name, isQuoted: true, kind)
            }
        }
    }

    private func word(_ text: [UInt8], isQuoted: Bool, _ kind: SchemaObject.Kind) -> [UInt8] {
        let folded = text.map(SQLName.folded)
        if SQLKeywords.all.contains(folded) {
            return isQuoted ? [UInt8(ascii: "`")] + text : folded
        }
        if names.contains(text) || kind == .view || kind == .trigger { return text }
        // The mark keeps a type from being taken for a name in small letters.
        return [UInt8(ascii: "~")] + folded
    }
}

/// The words that SQLite's grammar has for itself ("SQLite Keywords").
enum SQLKeywords {
    static let all = Set(
        """
        abort action add after all alter always analyze and as asc attach autoincrement before begin between by \
        cascade case cast check collate column commit conflict constraint create cross current current_date \
        current_time current_timestamp database default deferrable deferred delete desc detach distinct do drop \
        each else end escape except exclude exclusive exists explain fail filter first following for foreign \
        from full generated glob group groups having if ignore immediate in index indexed initially inner insert \
        instead intersect into is isnull join key last left like limit match materialized natural no not nothing \
        notnull null nulls of offset on or order others outer over partition plan pragma preceding primary query \
        raise range recursive references regexp reindex release rename replace restrict returning right rollback \
        row rowid rows savepoint select set stored strict table temp temporary then ties to transaction trigger \
        unbounded union unique update using vacuum values view virtual when where window with within without
        """
        .utf8.split(separator: UInt8(ascii: " ")).map { Array($0) }
    )
}
