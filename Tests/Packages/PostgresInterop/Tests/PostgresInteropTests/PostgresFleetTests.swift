import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection
import Testing

/// The table of a fleet's store where other tables and schemas are in its way.
@Suite struct PostgresFleetTests {
    private func manager(
        _ db: AsyncPostgresConnection,
        table: String = "app_migration_state"
    ) async throws(MigrationError) -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: "Data",
            currentVersion: "2.0",
            firstRun: .everything,
            store: SQLFleetStore(db, table: table)
        )
    }

    @Test func `hosts that start at once on a database without the table all start, and one runs`()
        async throws
    {
        try await withDatabase { info in
            var connections = [AsyncPostgresConnection]()
            for _ in 1...3 { connections.append(try await AsyncPostgresConnection(info)) }
            for round in 1...100 {
                let count = try await withThrowingTaskGroup(of: Int.self) { group in
                    for db in connections {
                        group.addTask {
                            let host = try await manager(db, table: "state_\(round)")
                            return try await host.whenMigrating(toVersion: "1.1") {} ? 1 : 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                try #require(count == 1)
            }
        }
    }

    @Test(arguments: ["", " AS SELECT * FROM app_migration_state"], [true, false])
    func `a temporary table of the store's name doesn't take the record`(_ rows: String, _ isShared: Bool)
        async throws
    {
        try await withAwaited { db, info in
            let other = isShared ? db : try await AsyncPostgresConnection(info)
            let columns = rows.isEmpty ? "(name TEXT PRIMARY KEY, revision BIGINT, document TEXT)" : rows
            let error = await #expect(throws: MigrationError.self) {
                try await manager(db).whenMigrating(toVersion: "1.1", in: other) { db in
                    try await db.query("CREATE TEMP TABLE app_migration_state \(columns)")
                    try await db.query("CREATE TABLE notes (title TEXT)")
                }
            }
            #expect(error?.code == .migrationFailed)
            #expect(
                error?.description.contains(#"A temporary table hides the table "app_migration_state""#)
                    == true,
                "\(error?.description ?? "")"
            )
            // The work went with its record.
            let fresh = try await AsyncPostgresConnection(info)
            #expect(try await fresh.query("SELECT to_regclass('notes')::text") == [[.null]])
            let status = try await manager(fresh).status
            #expect(status.lastRunVersion == AppVersion("0"))
            #expect(status.interruption?.deaths == 0)
        }
    }

    @Test func `a temporary table with the schema's name in the store is none of its business`() async throws
    {
        try await withAwaited { db, info in
            try await manager(db, table: "public.app_migration_state").whenMigrating(toVersion: "1.1", in: db)
            {
                try await $0.query(
                    "CREATE TEMP TABLE app_migration_state AS SELECT * FROM app_migration_state"
                )
            }
            let fresh = try await AsyncPostgresConnection(info)
            #expect(try await manager(fresh).lastRunVersion == AppVersion("1.1"))
        }
    }

    @Test func `a temporary table that was there before is no first run`() async throws {
        try await withAwaited { db, _ in
            try await manager(db).whenMigrating(toVersion: "1.1") {}
            try await db.query(
                "CREATE TEMP TABLE app_migration_state (name TEXT PRIMARY KEY, revision BIGINT, document TEXT)"
            )
            let error = await #expect(throws: MigrationError.self) { _ = try await manager(db) }
            #expect(error?.code == .stateUnreadable)
        }
    }

    @Test func `while a closure is in the transaction the server looks for its host`() async throws {
        try await withAwaited { db, _ in
            try await manager(db).whenMigrating(toVersion: "1.1", in: db) { db async throws in
                #expect(try await keepalives(of: db) == [["10"], ["5"], ["3"]])
            }
        }
    }

    @Test func `a search_path that hides the table is no first run`() async throws {
        try await withAwaited { db, _ in
            try await manager(db).whenMigrating(toVersion: "1.1") {}
            try await db.query("CREATE SCHEMA elsewhere")
            try await db.query("SET search_path TO elsewhere")
            let error = await #expect(throws: MigrationError.self) { _ = try await manager(db) }
            #expect(error?.code == .stateUnreadable)
            #expect(
                error?.description.contains(
                    """
                    The connection's search_path leads to no table "app_migration_state", and the schema public has one. Nothing was \
                    written. Name the store's table with its schema, also where it is to be a new one.
                    """
                ) == true,
                "\(error?.description ?? "")"
            )
            #expect(
                try await manager(db, table: "public.app_migration_state").lastRunVersion == AppVersion("1.1")
            )
            #expect(
                try await manager(db, table: "elsewhere.app_migration_state").lastRunVersion
                    == AppVersion("0")
            )
        }
    }
}
