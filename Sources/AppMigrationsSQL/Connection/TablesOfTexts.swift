/// The tables that are there after some scripts, as far as their words tell.
package struct TablesOfTexts {
    /// A table by its name, and by how the scripts write it, which PostgreSQL reads in its own way.
    package struct Table {
        package let text: String
        package let name: SQLName
    }

    private(set) var tables = [Table]()

    mutating func follow(_ script: String) {
        let tokens = SQLTokens(script)
        for index in tokens.tokens.indices {
            if tokens.isWord(index, "CREATE") {
                let next = tokens.isWord(index + 1, "VIRTUAL") ? index + 2 : index + 1
                guard let table = Self.table(tokens, next), !tables.contains(where: { $0.name == table.name })
                else {
                    continue
                }
                tables.append(table)
            } else if tokens.isWord(index, "DROP"), let table = Self.table(tokens, index + 1) {
                tables.removeAll { $0.name == table.name }
            } else if tokens.isWord(index, "ALTER"), let table = Self.table(tokens, index + 1) {
                rename(table, tokens, from: index)
            }
        }
    }

    private mutating func rename(_ table: Table, _ tokens: SQLTokens, from start: Int) {
        // ALTER TABLE IF EXISTS main.a RENAME TO b is the longest.
        let words = start..<min(start + 9, tokens.tokens.count)
        guard let rename = words.first(where: { tokens.isWord($0, "RENAME") && tokens.isWord($0 + 1, "TO") }),
            let name = tokens.name(rename + 2),
            let place = tables.firstIndex(where: { $0.name == table.name })
        else { return }
        tables[place] = Table(text: tokens.text(rename + 2), name: name)
    }

    /// The table named after the word TABLE at an index.
    private static func table(_ tokens: SQLTokens, _ index: Int) -> Table? {
        guard tokens.isWord(index, "TABLE") else { return nil }
        var index = index + 1
        if tokens.isWord(index, "IF") {
            while index < tokens.tokens.count, !tokens.isWord(index, "EXISTS") { index += 1 }
            index += 1
        }
        guard let name = tokens.name(index) else { return nil }
        guard tokens.isSign(index + 1, "."), let last = tokens.name(index + 2) else {
            return Table(text: tokens.text(index), name: name)
        }
        return Table(text: "\(tokens.text(index)).\(tokens.text(index + 2))", name: last)
    }
}
