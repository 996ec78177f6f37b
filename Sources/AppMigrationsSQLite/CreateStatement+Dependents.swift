extension CreateStatement {
    /// The names in an index's columns, expressions and condition.
    ///
    /// Of texts in single quotes only those that stand for a whole column are names. Names of functions and
    /// collations are left out.
    var indexedNames: [SQLName] {
        var names = [SQLName]()
        var depth = 0
        var isInList = true
        // After the name come ON and the table.
        for index in tokens.tokens.indices.dropFirst(afterName + 2) {
            if tokens.isSign(index, "(") { depth += 1 }
            if tokens.isSign(index, ")") {
                depth -= 1
                if depth == 0 { isInList = false }
            }
            let isWhole =
                isInList && depth == 1 && (tokens.isSign(index - 1, "(") || tokens.isSign(index - 1, ","))
            if tokens.tokens[index].kind == .text, !isWhole { continue }
            if tokens.isSign(index + 1, "(") || tokens.isWord(index - 1, "COLLATE") { continue }
            if let name = tokens.name(index) { names.append(name) }
        }
        return names
    }

    /// The event of a trigger, and the columns it is limited to.
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
}
