// A server of a fleet: <connection> <release>. It listens at a port that the system chooses, and prints the port.

import AppMigrations
import AppMigrationsFleet
import Glibc
import Hummingbird
import PostgresConnection
import ServiceLifecycle
import UnixSignals

guard CommandLine.arguments.count == 3 else { throw ServerError.usage }
let (database, release) = (CommandLine.arguments[1], CommandLine.arguments[2])
let data = Data(
    manager: try await FleetMigrationManager(
        named: "Data",
        currentVersion: release,
        firstRun: .everything,
        store: PostgresFleetStore { try await AsyncPostgresConnection(database) },
        options: FleetMigrationManager.Options(leaseDuration: .seconds(5))
    )
)

let router = Router()
// The load balancer sends requests here for as long as this says 200.
router.get("/readyz") { _, _ -> HTTPResponse.Status in
    try await data.isReady ? .ok : .serviceUnavailable
}
// A request that is under way while the server drains gets its answer.
router.get("/slow") { _, _ -> String in
    try await gracefulShutdown()
    return "finished"
}
let app = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        print("port \(channel.localAddress?.port ?? 0)")
        fflush(nil)
    }
)
try await ServiceGroup(
    configuration: ServiceGroupConfiguration(
        services: [
            .init(service: app),
            // The data's service ends when a newer release has shut this one out: the server answers what is under way, and ends.
            .init(service: data, successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        gracefulShutdownSignals: [.sigterm],
        logger: app.logger
    )
)
.run()
print("drained")

enum ServerError: Error {
    case usage
}
