import AppMigrationsFleet
import Glibc
import Hummingbird
import PostgresConnection
import ServiceLifecycle

// The parts of the guide's service that the guide leaves to its readers. NOTES_DATABASE has the connection
// string of the database, and NOTES_PORT has the port. If NOTES_HANGS is set, the migration 1.2 doesn't end.

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
    // If a connection string has two dbname parameters, the last one counts.
    return try await AsyncPostgresConnection(TestDatabase.name.map { "\(database) dbname=\($0)" } ?? database)
}

enum TestDatabase {
    @TaskLocal static var name: String?
}

func moveAvatarsToObjectStorage(_ context: FleetMigrationContext) async throws {
    try await context.saveCheckpoint(1, progress: 0.5)
    if getenv("NOTES_HANGS") != nil { try await Task.sleep(for: .seconds(3600)) }
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
