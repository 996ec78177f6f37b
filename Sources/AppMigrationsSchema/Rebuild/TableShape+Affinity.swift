internal import AppMigrationsSQLite

extension TableShape {
    /// What a column makes of the values that it gets ("Datatypes In SQLite", section 3.1).
    ///
    /// INTEGER and NUMERIC store the same.
    enum Affinity { case number, real, text, none }

    /// Whether values of a column of another table can become others in a column of this one, or be refused.
    func canChange(_ source: Column, of other: TableShape, into column: Column) -> Bool {
        let (before, after) = (other.affinity(of: source), affinity(of: column))
        // Without an affinity every value stays as it is, but BLOB in a STRICT table takes no other.
        let takesAll = after == .none && !(isStrict && SQLName(column.type) == SQLName("BLOB"))
        return before != after && !takesAll
    }

    func affinity(of column: Column) -> Affinity {
        // Capitals of ASCII only: the rules of Unicode would take "ınt" for an integer.
        let type = SQLName(column.type)
        // "ANY in STRICT tables preserves exactly what is inserted" (STRICT Tables).
        if isStrict, type == SQLName("ANY") { return .none }
        if type.contains("int") { return .number }
        if type.contains("char") || type.contains("clob") || type.contains("text") { return .text }
        if type.contains("blob") || column.type.isEmpty { return .none }
        if type.contains("real") || type.contains("floa") || type.contains("doub") { return .real }
        return .number
    }

    /// An expression that keeps the values of a column of another table, as well as SQLite can.
    ///
    /// - Returns: The expression, in terms of the column's name there; `nil` where rows without a value need values of
    ///   which each is another.
    func filling(_ column: Column, from source: SQLName) -> String? {
        if column.name == rowIDAlias || column.isInPrimaryKey { return nil }
        let value =
            switch affinity(of: column) {
            case .number: "0"
            case .real: "0.0"
            case .text: "''"
            case .none: SQLName(column.type) == SQLName("BLOB") ? "x''" : "''"
            }
        return "coalesce(\(source.written), \(value))"
    }
}
