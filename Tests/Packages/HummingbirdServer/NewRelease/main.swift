// A newer release, which shuts older ones out, or fails in a migration of its own: <connection> [fails].

import AppMigrationsFleet
import PostgresConnection

let info = CommandLine.arguments[1]
let migrations = try await FleetMigrationManager(
    named: "Notes",
    currentVersion: "2.0",
    firstRun: .everything,
    store: PostgresFleetStore { try await AsyncPostgresConnection(info) }
)
struct Failure: Error {}
if CommandLine.arguments.contains("fails") {
    try await migrations.whenMigrating(toVersion: "2.0") { throw Failure() }
}
try await migrations.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") {}
