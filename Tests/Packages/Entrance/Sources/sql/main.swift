import AppMigrationsSQL

/// A database that answers nothing.
struct SilentConnection: SQLConnection {
    static var dialect: SQLDialect { .postgres }

    func query(_ sql: String, _ arguments: [SQLValue]) throws -> [[SQLValue]] { [] }

    func execute(script: String) throws {}
}

let migrator = try SQLMigrator<SilentConnection>([])
print(try migrator.status(SilentConnection()).hasMigrationsTable)
