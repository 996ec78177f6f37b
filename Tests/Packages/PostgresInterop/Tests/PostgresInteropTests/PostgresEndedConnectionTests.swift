import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection
import Testing

@testable import LibpqConnection

/// Numbered files whose connection the server ends, as an administrator or a restart does.
///
/// An error that was met while the first one was described once took its place. At night, all that a service
/// said was that its connection is closed.
@Suite(.timeLimit(.minutes(1))) struct PostgresEndedConnectionTests {
    private typealias Migration = SQLMigration<LibpqConnection>

    /// libpq has the server's last words, and not their SQLSTATE.
    private static let reason = "terminating connection due to administrator command"

    /// Its second statement ends the server's process for this connection.
    private static let ending = "SELECT 1;\nSELECT pg_terminate_backend(pg_backend_pid())::text"

    @Test(arguments: [1, 2])
    func `the error has the server's reason and the place, whether the ledger is empty or not`(
        _ version: Int64
    ) async throws {
        try await withDatabase { info in
            let files = [String](repeating: "SELECT 1", count: Int(version) - 1) + [Self.ending]
            let migrator = try SQLMigrator(Migration.numbered(files))
            if version > 1 { try await migrator.migrate(LibpqConnection.connect(info), to: version - 1) }
            let error = await #expect(throws: SQLError.self) {
                try await migrator.migrate(LibpqConnection.connect(info))
            }
            #expect(error?.message.contains(Self.reason) == true, "\(error)")
            #expect(error?.version == version)
            #expect(error?.line == 2)
            #expect(error?.statement?.hasPrefix("SELECT pg_terminate_backend") == true, "\(error)")
        }
    }

    @Test func `a fleet's error has it, and may pass`() async throws {
        try await withDatabase { info in
            let manager = try await FleetMigrationManager(
                named: "Data",
                currentVersion: "2.0",
                firstRun: .everything,
                store: PostgresFleetStore { try await AsyncPostgresConnection(info) }
            )
            let migrator = try SQLMigrator(Migration.numbered([Self.ending]))
            let error = await #expect(throws: MigrationError.self) {
                try await manager.whenMigrating(toVersion: "1.1") {
                    try await migrator.migrate(LibpqConnection.connect(info))
                }
            }
            #expect(error?.isTransient == true, "\(error)")
            #expect(error?.description.contains(Self.reason) == true, "\(error)")
        }
    }
}
