/// The tables that may be there after some scripts, by every name that these give them.
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
            let made: Table?
            if tokens.isWord(index, "CREATE") {
                made = Self.table(tokens, tokens.isWord(index + 1, "VIRTUAL") ? index + 2 : index + 1)
            } else if tokens.isWord(index, "RENAME"), tokens.isWord(index + 1, "TO") {
                made = tokens.name(index + 2).map { Table(text: tokens.text(index + 2), name: $0) }
            } else if tokens.isWord(index, "DROP"), let table = Self.table(tokens, index + 1) {
                tables = tables.filter { $0.name != table.name }
                continue
            } else {
                continue
            }
            if let made, !tables.contains(where: { $0.name == made.name }) { tables.append(made) }
        }
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
