import AppMigrations

// A program whose only work is a start with ten versions, none of them pending.
// It is started in the folder of the state: to read its arguments would be no part of a start.
let migrations = try MigrationManager(
    named: "Library",
    currentVersion: "1.10",
    stateDirectory: "/proc/self/cwd"
)
try migrations.whenMigrating(toVersion: "1.1") {}
try migrations.whenMigrating(toVersion: "1.2") {}
try migrations.whenMigrating(toVersion: "1.3") {}
try migrations.whenMigrating(toVersion: "1.4") {}
try migrations.whenMigrating(toVersion: "1.5") {}
try migrations.whenMigrating(toVersion: "1.6") {}
try migrations.whenMigrating(toVersion: "1.7") {}
try migrations.whenMigrating(toVersion: "1.8") {}
try migrations.whenMigrating(toVersion: "1.9") {}
try migrations.whenMigrating(toVersion: "1.10") {}
