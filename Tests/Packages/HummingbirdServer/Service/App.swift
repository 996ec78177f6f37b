import AppMigrationsFleet
import Glibc
import Hummingbird
import PostgresConnection
import ServiceLifecycle

// The app of the guide's service, with all that the guide leaves to it: <port> [plan], with its database in NOTES_DATABASE.

struct ConnectionLost: Error {}

func connect() async throws -> AsyncPostgresConnection {
    guard let info = getenv("NOTES_DATABASE") else { throw ConnectionLost() }
    return try await AsyncPostgresConnection(String(cString: info))
}

func moveAvatarsToObjectStorage(_ context: FleetMigrationContext) async throws {}

var address: BindAddress { .hostname("127.0.0.1", port: Int(CommandLine.arguments[1]) ?? 0) }

func addRoutes(to router: Router<BasicRequestContext>) {
    // A request that is under way while the server drains gets its answer.
    router.get("/slow") { _, _ -> String in
        try await gracefulShutdown()
        return "finished"
    }
}
