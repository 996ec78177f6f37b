/// Another tool that keeps a table of migrations, known by the columns of that table.
struct OtherTool {
    let name: String
    /// A column that tells.
    let column: String

    /// Each by the columns that no table of this library has, what several tools have last.
    private static let tools: [(columns: [String], name: String)] = [
        (["dirty"], "golang-migrate's"),
        (["inserted_at"], "Ecto's"),
        (["installed_rank"], "Flyway's"),
        (["executed_at"], "Doctrine's"),
        (["execution_time"], "sqlx's"),
        (["applied_on"], "refinery's"),
        (["version_num"], "Alembic's"),
        (["version_id", "is_applied"], "goose's"),
        (["orderexecuted"], "Liquibase's"),
        (["applied_steps_count"], "Prisma's"),
        (["migrationid"], "Entity Framework's"),
        (["migration_time"], "Knex's"),
        (["batch", "migration"], "Laravel's"),
        (["batch"], "Fluent's"),
        (["order", "group"], "Hummingbird's"),
        (["app", "applied"], "Django's"),
        (["run_on", "version"], "Diesel's"),
        (["run_on"], "node-pg-migrate's"),
        (["identifier"], "GRDB's"),
    ]

    /// The tool that made a table with these columns, which are in lower case.
    init?(columns: [String]) {
        let tool = Self.tools.first { $0.columns.allSatisfy(columns.contains) }
        guard let tool else { return nil }
        (name, column) = (tool.name, tool.columns[0])
    }

    func error(of table: String) -> SQLError {
        SQLError(.foreignLedger, "The table \(table) is \(name): it has a column \(column)")
    }
}
