import AppMigrationsLegacy

let folder = CommandLine.arguments[1]
let old = try LegacyManager(
    of: .mfMigrationManager(named: "Entrance"),
    lastRelease: "1.0",
    in: .file(at: folder + "/defaults.plist")
)
let migrations = try MigrationManager(
    named: "Entrance",
    currentVersion: "1.1",
    firstRun: old.firstRun(isUnlocked: true),
    stateDirectory: folder
)
try migrations.whenMigrating(toVersion: "1.0", unlessRunBy: old) {}
try migrations.whenMigrating(toVersion: "1.1") {}
print(CommandLine.arguments.count)
