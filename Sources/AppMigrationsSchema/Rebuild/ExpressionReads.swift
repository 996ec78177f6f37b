internal import AppMigrationsSQLite

/// The columns and tables that SQLite reads to evaluate an expression for the rows of a table.
struct ExpressionReads {
    /// The columns of the row itself.
    var columns = Set<SQLName>()
    /// The tables and views that a subquery reads.
    ///
    /// The row's own table can be one of them.
    var tables = Set<SQLName>()
    /// False if the expression calls a function that isn't registered on the private connections.
    ///
    /// Then the expression could not be analyzed, and may read any table.
    var isComplete = true

    var readsOnlyOwnRow: Bool { tables.isEmpty && isComplete }

    func mayRead(_ table: SQLName) -> Bool { !isComplete || tables.contains(table) }

    mutating func formUnion(_ other: ExpressionReads) {
        columns.formUnion(other.columns)
        tables.formUnion(other.tables)
        isComplete = isComplete && other.isComplete
    }
}
