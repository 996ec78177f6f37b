internal import AppMigrationsSQLite

/// A parsed `CREATE` statement, with the positions of its parts.
struct CreateStatement {
    enum Kind: String {
        case table = "TABLE"
        case virtualTable = "VIRTUAL TABLE"
        case index = "INDEX"
        case view = "VIEW"
        case trigger = "TRIGGER"
    }

    let tokens: SQLTokens
    let kind: Kind
    let isTemporary: Bool
    /// The schema that is written before the name, as in `main.notes`.
    let schema: SQLName?
    let name: SQLName
    /// The index of the token after the name.
    let afterName: Int

    /// Reads a statement; `nil` if it creates nothing of these kinds.
    init?(_ text: String) {
        tokens = SQLTokens(text)
        guard tokens.isWord(0, "CREATE") else { return nil }
        isTemporary = tokens.isWord(1, "TEMP") || tokens.isWord(1, "TEMPORARY")
        var index = isTemporary ? 2 : 1
        if tokens.isWord(index, "UNIQUE") { index += 1 }
        let isVirtual = tokens.isWord(index, "VIRTUAL")
        if isVirtual { index += 1 }
        switch index {
        case _ where tokens.isWord(index, "TABLE"): kind = isVirtual ? .virtualTable : .table
        case _ where tokens.isWord(index, "INDEX"): kind = .index
        case _ where tokens.isWord(index, "VIEW"): kind = .view
        case _ where tokens.isWord(index, "TRIGGER"): kind = .trigger
        default: return nil
        }
        index += 1
        if tokens.isWord(index, "IF"), tokens.isWord(index + 1, "NOT"), tokens.isWord(index + 2, "EXISTS") {
            index += 3
        }
        if tokens.isSign(index + 1, ".") {
            schema = tokens.name(index)
            index += 2
        } else {
            schema = nil
        }
        guard let name = tokens.name(index) else { return nil }
        self.name = name
        afterName = index + 1
    }

    /// The text of this statement under another name, without `TEMP` and `IF NOT EXISTS`.
    ///
    /// - Parameters:
    ///   - name: The new name. The caller quotes it if necessary, and may qualify it with a schema.
    ///   - replacements: Ranges of the text after the name, each with the text that replaces it.
    /// - Returns: The text.
    func text(
        naming name: String,
        replacing replacements: [(range: Range<Int>, text: String)] = []
    ) -> String {
        let end = tokens.tokens[afterName - 1].range.upperBound
        var text = "CREATE \(kind.rawValue) \(name)"
        if kind == .index, tokens.isWord(1, "UNIQUE") { text = "CREATE UNIQUE INDEX \(name)" }
        var offset = end
        for (range, other) in replacements where range.lowerBound >= end {
            text += tokens.text(in: offset..<range.lowerBound) + other
            offset = range.upperBound
        }
        return text + tokens.text(in: offset..<tokens.count)
    }

    /// The text of this statement with the object's name qualified by a schema.
    ///
    /// The statements that SQLite stores are not qualified. If the statement of an index or a trigger is run
    /// as it is, and a temporary table has the same name as its table, it would apply to the temporary table.
    func text(in schema: String) -> String { text(naming: "\(schema).\(tokens.text(afterName - 1))") }

    /// The ranges in which one of `names` is written in double quotes, each with the same name in backticks.
    ///
    /// SQLite treats a name in double quotes as a string literal if there is no such column ("Double-quoted
    /// String Literals Are Accepted").
    func doubleQuotedOccurrences(of names: Set<SQLName>) -> [(range: Range<Int>, text: String)] {
        var occurrences = [(range: Range<Int>, text: String)]()
        for index in afterName..<tokens.tokens.count where tokens.tokens[index].kind == .quoted {
            if let name = tokens.name(index), names.contains(name) {
                occurrences.append((tokens.tokens[index].range, name.inBackticks))
            }
        }
        return occurrences
    }

    /// The event of a trigger, and the columns after `UPDATE OF`; `nil` if there is no event.
    var event: (name: String, columns: [SQLName])? {
        var index = afterName
        while index < tokens.tokens.count, !tokens.isWord(index, "ON") {
            if tokens.isWord(index, "INSERT") { return ("INSERT", []) }
            if tokens.isWord(index, "DELETE") { return ("DELETE", []) }
            if tokens.isWord(index, "UPDATE") {
                var columns = [SQLName]()
                index += 2
                while tokens.isWord(index - 1, "OF") || tokens.isSign(index - 1, ",") {
                    if let name = tokens.name(index) { columns.append(name) }
                    index += 2
                }
                return ("UPDATE", columns)
            }
            index += 1
        }
        return nil
    }

    /// The index of the parenthesis before a table's columns; `nil` for `CREATE TABLE … AS SELECT`.
    var openingParenthesis: Int? { tokens.isSign(afterName, "(") ? afterName : nil }

    var hasAutoincrement: Bool { tokens.tokens.indices.contains { tokens.isWord($0, "AUTOINCREMENT") } }

    /// True if another statement follows this one.
    var isFollowed: Bool {
        tokens.tokens.indices.dropLast().contains { tokens.isSign($0, ";") && !tokens.isSign($0 + 1, ";") }
    }

    /// The definitions of a table's columns and constraints, as ranges of tokens.
    var items: [Range<Int>] {
        guard let open = openingParenthesis, let end = tokens.end(ofParenthesisAt: open) else { return [] }
        var items = [Range<Int>]()
        var start = open + 1
        var depth = 0
        for index in (open + 1)..<end {
            if depth == 0, tokens.isSign(index, ",") || index == end - 1 {
                items.append(start..<index)
                start = index + 1
            }
            if tokens.isSign(index, "(") { depth += 1 }
            if tokens.isSign(index, ")") { depth -= 1 }
        }
        return items
    }

    /// The text of a column's definition; `nil` if the table has no such column.
    func definition(of column: SQLName) -> String? {
        let keywords: [StaticString] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
        for item in items where !item.isEmpty && tokens.name(item.lowerBound) == column {
            if keywords.contains(where: { tokens.isWord(item.lowerBound, $0) }) { continue }
            let first = tokens.tokens[item.lowerBound]
            let last = tokens.tokens[item.upperBound - 1]
            return tokens.text(in: first.range.lowerBound..<last.range.upperBound)
        }
        return nil
    }
}

extension SQLTokens {
    /// The text with each double-quoted name in backticks instead.
    ///
    /// SQLite treats a name in double quotes as a string literal if there is no such column ("Double-quoted
    /// String Literals Are Accepted"), and never does so with a name in backticks.
    var inBackticks: String {
        var text = ""
        var offset = 0
        for index in tokens.indices where tokens[index].kind == .quoted {
            guard let name = name(index) else { continue }
            text += self.text(in: offset..<tokens[index].range.lowerBound) + name.inBackticks
            offset = tokens[index].range.upperBound
        }
        return text + self.text(in: offset..<count)
    }

    /// The index after the parenthesis that closes the one at `index`; `nil` if none does.
    func end(ofParenthesisAt index: Int) -> Int? {
        var depth = 0
        for position in index..<tokens.count {
            if isSign(position, "(") { depth += 1 }
            if isSign(position, ")") { depth -= 1 }
            if depth == 0 { return position + 1 }
        }
        return nil
    }
}
