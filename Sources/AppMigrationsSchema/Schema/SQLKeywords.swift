internal import AppMigrationsSQLite

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
        .utf8.split(separator: UInt8(ascii: " ")).map { ArraySlice(Array($0)) }
    )
}

extension SQLName {
    /// The name as a person writes it in SQL: without quotes where it needs none.
    var written: String {
        let isPlain = key.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        let isWord = key.allSatisfy(SQLTokens.isOfWord) && !key.contains(UInt8(ascii: "$"))
        return isPlain && isWord && !SQLKeywords.all.contains(key[...]) ? text : alwaysName
    }
}
