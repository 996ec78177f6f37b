// A newer release of the service. It excludes older releases, unless its migration fails or hangs first.
// Arguments: <connection> [fails | hangs]

import AppMigrationsFleet
import PostgresConnection

let info = CommandLine.arguments[1]
let migrations = try await FleetMigrationManager(
    named: "Notes",
    currentVersion: "2.0",
    firstRun: .everything,
    store: PostgresFleetStore { try await AsyncPostgresConnection(info) },
    options: .init(leaseDuration: .seconds(10))
)
struct Failure: Error {}
if CommandLine.arguments.contains("fails") {
    try await migrations.whenMigrating(toVersion: "2.0") { throw Failure() }
}
if CommandLine.arguments.contains("hangs") {
    try await migrations.whenMigrating(toVersion: "2.0") { try await Task.sleep(for: .seconds(3600)) }
}
try await migrations.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") {}
