import AppMigrationsSQLite

let migrator = try SQLMigrator(SQLMigration<SQLiteConnection>.numbered(["CREATE TABLE note(text TEXT)"]))
try migrator.migrate(SQLiteConnection(path: CommandLine.arguments[1]))
print(CommandLine.arguments.count)
