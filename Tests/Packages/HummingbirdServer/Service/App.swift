import AppMigrationsFleet
import Glibc
import Hummingbird
import PostgresConnection
import ServiceLifecycle

// The app of the guide's service, with all that the guide leaves to it. Its database is in NOTES_DATABASE, and its port in NOTES_PORT.

typealias MigrationConnection = AsyncPostgresConnection

struct MissingVariable: Error {
    let name: String
}

func variable(_ name: String) throws -> String {
    guard let value = getenv(name) else { throw MissingVariable(name: name) }
    return String(cString: value)
}

func connect() async throws -> MigrationConnection {
    let database = try variable("NOTES_DATABASE")
    // The last of two names counts.
    return try await AsyncPostgresConnection(TestDatabase.name.map { "\(database) dbname=\($0)" } ?? database)
}

enum TestDatabase {
    @TaskLocal static var name: String?
}

func moveAvatarsToObjectStorage(_ context: FleetMigrationContext) async throws {
    try await context.saveCheckpoint(1, progress: 0.5)
}

var address: BindAddress {
    .hostname("127.0.0.1", port: getenv("NOTES_PORT").flatMap { Int(String(cString: $0)) } ?? 0)
}

func addRoutes(to router: Router<BasicRequestContext>) {
    // A request that is under way while the server drains gets its answer.
    router.get("/slow") { _, _ -> String in
        try await gracefulShutdown()
        return "finished"
    }
}
