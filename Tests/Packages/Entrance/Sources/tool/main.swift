import AppMigrationsCommandLine

let folder = CommandLine.arguments[1]
let gate = MigrationGate { start in
    let migrations = try MigrationManager(
        named: "Entrance",
        currentVersion: "1.1",
        stateDirectory: folder,
        options: start.options()
    )
    try start.migrate(migrations) { try $0.whenMigrating(toVersion: "1.1") {} }
}
try await gate.readyInTerminal()
print(CommandLine.arguments.count)
