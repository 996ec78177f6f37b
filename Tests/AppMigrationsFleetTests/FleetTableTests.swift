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
        #expect(error?.code == .stateBehind)
        #expect(error?.isTransient == true)
        #expect(
            error?.description.hasSuffix(
                """
                existed when the manager was created, but it no longer exists. It was reset, or a failover or a restored backup has \
                lost its last changes. Migration 1.1 was not run. Create a new manager and declare every migration again. The new state \
                counts its fencing tokens from 1 again. If another system rejects tokens below the \
                highest one that it has seen, reset the token there.
                """
            ) == true,
            "\(error?.description ?? "")"
        )
    }

    @Test func `a failover that lost a record ends the manager, and the next one runs the migration again`()
        async throws
    {
        let manager = try await place.manager()
        let before = try await place.db.query("SELECT revision, document FROM app_migration_state")
        try await manager.whenMigrating(toVersion: "1.1") {}
        // The standby server that was promoted has the document of a moment ago.
        _ = try await place.db.query("UPDATE app_migration_state SET revision = $1, document = $2", before[0])
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.2") { Issue.record("It ran.") }
        }
        #expect(error?.code == .stateBehind)
        #expect(error?.isTransient == true)
        #expect(
            error?.description.contains(
                """
                has the last-run version 0, and this manager has seen 1.1. It was reset, or a failover or a restored backup has lost \
                its last changes. Migration 1.2 was not run.
                """
            ) == true,
            "\(error?.description ?? "")"
        )
        let log = Log()
        let next = try await place.manager()
        for version in ["1.1", "1.2"] {
            try await next.whenMigrating(toVersion: version) { log.add(version) }
        }
        #expect(log.lines == ["1.1", "1.2"])
    }

    @Test func `a standby server is no store`() async throws {
        place.db.onStatement { sql in
            sql.hasPrefix("SELECT revision") ? .gives([[1, "{}", 1]]) : .works
        }
        let error = await #expect(throws: MigrationError.self) {
            _ = try await FleetMigrationManager(on: PostgresFleetStore { [db = place.db] in db })
        }
        #expect(error?.code == .stateUnreadable)
        #expect(error?.isTransient == false)
        #expect(
            error?.description.contains("leads to a standby server") == true,
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
