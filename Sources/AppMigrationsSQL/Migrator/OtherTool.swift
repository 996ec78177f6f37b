extension SQLError {
    /// The error for a table of migrations with a column that no table of this library has; `nil` where each is its own.
    ///
    /// Another tool's numbers would pass for migrations of the app that have run.
    static func ofOtherTool(_ table: String, _ columns: [String], own: [String]) -> SQLError? {
        let names = ["dirty": "golang-migrate's", "inserted_at": "Ecto's", "installed_rank": "Flyway's"]
        let foreign = columns.filter { !own.contains($0) }
        guard let column = foreign.first(where: { names[$0] != nil }) ?? foreign.first else { return nil }
        let owner = names[column] ?? "another tool's"
        return SQLError(.foreignLedger, "The table \(table) is \(owner): it has a column \(column)")
    }
}
