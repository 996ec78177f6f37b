import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Also the samples of the doc comments of AppMigrationsFleet.
@Suite struct SeveralHosts {
    func manager(_ store: any FleetStore, hasNotes: () async throws -> Bool) async throws
        -> FleetMigrationManager
    {
        try await FleetMigrationManager(
            named: "Notes",
            currentVersion: "1.3",
            firstRun: await hasNotes() ? .existingData(at: "1.1") : .everything,
            store: store
        )
    }

    // Sample 1 of FleetMigrationContext.md

    // Sample 2 of FleetMigrationManager.md

    struct NewerServiceNeeded: Error, CustomStringConvertible {
        let version: AppVersion
        var description: String {
            "The data needs \(version) of the service or newer. "
                + "Nothing was changed."
        }
    }

    func migrateSchema(
        _ migrations: FleetMigrationManager,
        runFiles: (_ last: Int64) async throws -> Void
    ) async throws {
        try await migrations.whenMigrating(
            toVersion: "1.2",
            minimumAppVersion: "1.1"
        ) {
            try await runFiles(1)
        }
        try await migrations.whenMigrating(toVersion: "1.3") {
            try await runFiles(2)
        }
    }

    // Sample 1 of FleetMigrationManager.md

    func probe(_ store: any FleetStore) async throws -> Bool {
        // Sample 1 of FleetProbe.swift
        return isReady
    }

    func declare(_ migrations: FleetMigrationManager) async throws {
        try await migrations.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.1") {
            try await moveAvatarsToObjectStorage($0)
        }
    }

    func job(_ store: any FleetStore) async throws { try await declare(manager(store) { false }) }

    func together<Connection: AsyncSQLConnection & Sendable>(
        _ migrations: FleetMigrationManager,
        connect: @escaping @Sendable () async throws -> Connection
    ) async throws {
        // Sample 1 of FleetMigrationManager+Database.swift
    }

    func store<Connection: AsyncSQLConnection & Sendable>(
        connect: @escaping @Sendable () async throws -> Connection
    ) -> PostgresFleetStore<Connection> {
        // Sample 1 of PostgresFleetStore.swift
        return store
    }

    func start(_ store: any FleetStore) async throws {
        // Sample 1 of FleetMigrationManager.swift
    }

    struct Batch {
        let last: Int
        var progress: Double { Double(last) / 3 }
    }

    struct ConnectionLost: Error, CustomStringConvertible {
        var description: String { "the network is gone" }
    }

    let calls = Calls()

    func avatars(after last: Int) async throws -> Batch? { last < 3 ? Batch(last: last + 1) : nil }

    func upload(_ batch: Batch, refusingBelow fence: Int) async throws {
        do {
            try calls.note("\(batch.last) fence \(fence)")
        } catch {
            throw ConnectionLost()
        }
    }

    func moveAvatarsToObjectStorage() async throws {}

    @Test func `a job migrates, and the pods become ready`()
        async throws
    {
        let store = InMemoryFleetStore()
        let old = try await FleetMigrationManager(
            named: "Notes",
            currentVersion: "1.0",
            firstRun: .freshInstall,
            store: store
        )
        #expect(try await !probe(store))
        calls.fail(at: "2 fence 1")
        await #expect(throws: MigrationError.self) { try await job(store) }
        #expect(try await old.status.latestAttempt?.failure == "the network is gone")
        #expect(calls.take() == ["1 fence 1", "2 fence 1"])
        // The next attempt goes on behind the last checkpoint, with a higher fence.
        try await job(store)
        #expect(calls.take() == ["2 fence 2", "3 fence 2"])
        try await pod(store)
        #expect(try await probe(store))
        let newer = try await FleetMigrationManager(
            named: "Notes",
            currentVersion: "2.0",
            firstRun: .freshInstall,
            store: store
        )
        try await newer.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") {}
        let error = await #expect(throws: NewerServiceNeeded.self) { try await pod(store) }
        #expect(error?.version == AppVersion("2.0"))
    }

    @Test func `an old database with numbered files begins behind its baseline, and they run once`()
        async throws
    {
        try await withFolder { folder async throws in
            let db = try AwaitedConnection(SQLiteConnection(path: folder + "/db"))
            let migrator = try SQLMigrator<AwaitedConnection>([
                SQLMigration(version: 1, sql: "CREATE TABLE notes(title)"),
                SQLMigration(version: 2, sql: "ALTER TABLE notes ADD COLUMN day"),
            ])
            try await db.query("CREATE TABLE notes(title)")
            let store = InMemoryFleetStore()
            for host in 1...2 {
                let migrations = try await manager(store) {
                    #expect(host == 1, "A host that came later was asked.")
                    try await migrator.markApplied(upTo: 1, in: db)
                    return true
                }
                try await migrateSchema(migrations) { try await migrator.migrate(db, to: $0) }
            }
            #expect(try await migrator.status(db).applied == [1, 2])
            let old = try await FleetMigrationManager(
                named: "Notes",
                currentVersion: "1.0",
                firstRun: .freshInstall,
                store: store
            )
            #expect(try await old.status.history.map(\.version.description) == ["1.2", "1.3"])
            #expect(old.requiredAppVersion == AppVersion("1.1"))
        }
    }
}
