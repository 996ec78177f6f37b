import AppMigrationsFleet

let migrations = try await FleetMigrationManager(
    named: "Entrance",
    currentVersion: "1.1",
    firstRun: .everything,
    store: InMemoryFleetStore()
)
try await migrations.whenMigrating(toVersion: "1.1") {}
print(migrations.lastRunVersion)
