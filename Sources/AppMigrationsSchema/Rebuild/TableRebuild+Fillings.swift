internal import AppMigrationsSQLite

extension TableRebuild {
    /// Where the value of each column of the new table comes from; one that is not there gets its default.
    func fillings(_ old: TableShape, _ new: TableShape) throws(SQLError) -> [TableCopy.Filling] {
        try checkValues(old, new)
        var fillings = [TableCopy.Filling]()
        var isRowIDGiven = new.isWithoutRowID
        for column in new.columns where !column.isGenerated {
            let name = column.name
            let expression: String
            if let value = values.first(where: { $0.column == name }) {
                // The line end closes a comment that the expression may end with.
                expression = "(\(value.expression)\n)"
            } else if let before = kept(column, old) {
                expression = before.name.quoted
            } else if column.isNotNull, !column.hasDefault, name != new.rowIDAlias {
                throw refusal(
                    "The new column \(name) is NOT NULL, and has neither a default nor a value",
                    "Give one of them, a value in values:"
                )
            } else {
                continue
            }
            if name == new.rowIDAlias { isRowIDGiven = true }
            fillings.append(TableCopy.Filling(column: name.quoted, expression: expression))
        }
        // Other tables may hold row ids, and a new INTEGER PRIMARY KEY takes them over.
        if !isRowIDGiven, let target = new.rowIDName, let source = old.rowIDName {
            fillings.insert(TableCopy.Filling(column: target, expression: source), at: 0)
        }
        if fillings.isEmpty {
            throw refusal("The new table has no column of the old one", "Give it one, or drop the table")
        }
        return fillings
    }

    /// How SQLite's authorizer calls the row ids, where rows get others; `nil` where they keep theirs.
    func changedRowID(_ old: TableShape, _ new: TableShape, _ fillings: [TableCopy.Filling]) -> SQLName? {
        guard let source = old.rowIDAlias ?? old.rowIDName.map({ SQLName($0) }) else { return nil }
        let isKept = fillings.contains { filling in
            let tokens = SQLTokens(filling.expression)
            let inside = tokens.tokens.indices.filter { !tokens.isSign($0, "(") && !tokens.isSign($0, ")") }
            return filling.column == new.rowIDName && inside.count == 1 && tokens.name(inside[0]) == source
        }
        return isKept ? nil : old.rowIDAlias ?? SQLName("ROWID")
    }

    private func checkValues(_ old: TableShape, _ new: TableShape) throws(SQLError) {
        var given = Set<SQLName>()
        for (column, expression) in values {
            guard let target = new[column] else {
                throw refusal(
                    "There is a value for \(column), which is no column of the new table",
                    correction
                )
            }
            if target.isGenerated {
                throw refusal("There is a value for \(column), which is a generated column", correction)
            }
            if !given.insert(column).inserted {
                throw refusal("There are two values for the column \(column)", correction)
            }
            if SQLTokens(expression).tokens.isEmpty {
                throw refusal("The value for \(column) is empty", correction)
            }
        }
    }

    private var correction: String { "Correct values:" }
}
