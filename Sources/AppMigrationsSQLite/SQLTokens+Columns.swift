extension SQLTokens {
    /// The names in an expression that can only be columns of one of `tables`.
    ///
    /// A column that an expression doesn't use is lost where its table is made anew, so a name that may be something else
    /// doesn't count: a function, a type, a collation, a column of another table, and in a subquery whatever is not
    /// qualified. Then the caller is asked.
    func columns(of tables: Set<SQLName>) -> Set<SQLName> {
        var columns = Set<SQLName>()
        let hasSubquery = tokens.indices.contains { isWord($0, "SELECT") }
        var isInType = false
        for index in tokens.indices {
            if isWord(index, "AS") {
                isInType = true
                continue
            }
            if isSign(index, ")") || isSign(index, "(") || isSign(index, ",") { isInType = false }
            guard tokens[index].kind != .text, let name = name(index), !isInType else { continue }
            if isSign(index + 1, "(") || isSign(index + 1, ".") { continue }
            if index > 0, isWord(index - 1, "COLLATE") { continue }
            if index > 1, isSign(index - 1, ".") {
                if let table = self.name(index - 2), tables.contains(table) { columns.insert(name) }
            } else if !hasSubquery {
                columns.insert(name)
            }
        }
        return columns
    }
}
