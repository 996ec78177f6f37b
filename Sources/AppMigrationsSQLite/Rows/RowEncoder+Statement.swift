internal import AppMigrationsSQL

extension RowEncoder {
    /// The `INSERT` for the columns of the row.
    func statement(
        _ table: String,
        _ rule: SQLConflictRule,
        key: Set<SQLName>
    ) throws(SQLError) -> String {
        let columns = names.map { SQLName($0) }
        var seen = Set<SQLName>()
        for column in columns where !seen.insert(column).inserted {
            throw failure("the value is encoded twice, and a column has one", at: column.text)
        }
        if case .update(let kept) = rule, let unknown = kept.first(where: { !seen.contains(SQLName($0)) }) {
            throw failure("keepingIfNull names it, and the row has no such column", at: unknown)
        }
        let list = columns.map(\.quoted).joined(separator: ", ")
        let places = repeatElement("?", count: columns.count).joined(separator: ", ")
        // "OR ABORT" stands above the ON CONFLICT clauses of the table, which would leave rows out or take others away
        // ("The ON CONFLICT Clause"); the rule of the call stands above both ("UPSERT").
        return
            "INSERT OR ABORT INTO \(SQLName(table).quoted) (\(list)) VALUES (\(places))\(rule.clause(columns, key: key))"
    }
}
