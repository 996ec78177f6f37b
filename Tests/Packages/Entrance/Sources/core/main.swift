import AppMigrations

let migrations = try MigrationManager(
    named: "Entrance",
    currentVersion: "1.1",
    stateDirectory: CommandLine.arguments[1]
)
try migrations.whenMigrating(toVersion: "1.1") {}
print(CommandLine.arguments.count)
