extension TableShape {
    /// What a column makes of the values that it gets ("Datatypes In SQLite", section 3.1).
    ///
    /// INTEGER and NUMERIC store the same.
    enum Affinity { case number, real, text, none }

    /// Whether values of a column of another table can become others in a column of this one, or be refused.
    func canChange(_ source: Column, of other: TableShape, into column: Column) -> Bool {
        let (before, after) = (other.affinity(of: source), affinity(of: column))
        // Without an affinity every value stays as it is, but BLOB in a STRICT table takes no other.
        let takesAll = after == .none && !(isStrict && column.type.uppercased() == "BLOB")
        return before != after && !takesAll
    }

    func affinity(of column: Column) -> Affinity {
        let type = column.type.uppercased()
        // "ANY in STRICT tables preserves exactly what is inserted" (STRICT Tables).
        if isStrict, type == "ANY" { return .none }
        if type.contains("INT") { return .number }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text }
        if type.contains("BLOB") || type.isEmpty { return .none }
        if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return .real }
        return .number
    }
}
