import AppMigrations

// declare CURRENT VERSION … declares the versions in the state of the folder that it is started in.
let migrations = try MigrationManager(
    named: "Library",
    currentVersion: CommandLine.arguments[1],
    firstRun: .everything,
    stateDirectory: "/proc/self/cwd"
)
for version in CommandLine.arguments.dropFirst(2) { try migrations.whenMigrating(toVersion: version) {} }
