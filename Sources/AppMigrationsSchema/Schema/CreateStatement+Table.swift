internal import AppMigrationsSQLite

extension CreateStatement {
    /// The index of the opening parenthesis of a table's columns; `nil` for `AS SELECT`.
    var openingParenthesis: Int? { tokens.isSign(afterName, "(") ? afterName : nil }

    /// The words after the columns of a table, in capitals.
    var options: [String] {
        guard let open = openingParenthesis, let end = tokens.end(ofParenthesisAt: open) else { return [] }
        return (end..<tokens.tokens.count).map { tokens.text($0).uppercased() }
    }

    var isWithoutRowID: Bool {
        let options = options
        return zip(options, options.dropFirst()).contains { $0 == "WITHOUT" && $1 == "ROWID" }
    }

    var isStrict: Bool { options.contains("STRICT") }

    var hasAutoincrement: Bool { tokens.tokens.indices.contains { tokens.isWord($0, "AUTOINCREMENT") } }

    /// Whether something follows the statement.
    var isFollowed: Bool {
        tokens.tokens.indices.dropLast().contains { tokens.isSign($0, ";") && !tokens.isSign($0 + 1, ";") }
    }

    /// What stands between the commas of a table's columns and constraints, as ranges of tokens.
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

    /// The text of a column's definition; `nil` where the table has no such column.
    func definition(of column: SQLName) -> String? {
        let keywords: [StaticString] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
        for item in items where !item.isEmpty && tokens.name(item.lowerBound) == column {
            if keywords.contains(where: { tokens.isWord(item.lowerBound, $0) }) { continue }
            let (first, last) = (tokens.tokens[item.lowerBound], tokens.tokens[item.upperBound - 1])
            return tokens.text(in: first.range.lowerBound..<last.range.upperBound)
        }
        return nil
    }
}
