import AppMigrations

// A cold start of ten versions, none of which is pending. It is started in the folder of the state, so that the length of the
// folder's path has no influence on what is measured.
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
