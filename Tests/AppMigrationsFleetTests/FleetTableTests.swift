import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Testing

/// Databases and tables that aren't the store's, and rows that are removed from it.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetTableTests {
    let place: Place

    init() async throws { place = try await Place() }

    @Test func `a manager whose row was removed by hand says that its fences begin again`() async throws {
        let manager = try await place.manager()
        try await place.db.query("DELETE FROM app_migration_state")
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(error?.code == .stateUnreadable)
        #expect(
            error?.description.hasSuffix(
                """
                but it no longer exists. Migration 1.1 was not run. Create a new manager, which begins with a first run. The new state \
                counts its fencing tokens from 1 again. If another system rejects tokens below the \
                highest one that it has seen, reset the token there.
                """
            ) == true,
            "\(error?.description ?? "")"
        )
    }

    @Test func `another database than the store's is refused before anything runs`() async throws {
        let elsewhere = try PostgresStandIn(TemporaryDirectory.current.file("other.sqlite"))
        for manager in [
            try await place.manager(),
            try await FleetMigrationManager(on: InMemoryFleetStore()),
        ] {
            let error = await #expect(throws: MigrationError.self) {
                try await manager.whenMigrating(toVersion: "1.1", in: elsewhere) { _, _ in
                    Issue.record("It ran.")
                }
            }
            #expect(error?.code == .migrationFailed)
            #expect(error?.description.contains("It needs a PostgresFleetStore as the store") == true)
        }
    }
}
