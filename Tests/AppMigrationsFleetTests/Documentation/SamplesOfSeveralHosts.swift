import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import TestSupport
import Testing

// The samples of the landing page and of "Several hosts", as they stand there.

private func start<Connection: AsyncSQLConnection & Sendable>(
    storeConnection: Connection,
    connection: Connection
) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: SQLFleetStore(storeConnection)
    )
    try await migrations.whenMigrating(toVersion: "1.2") { context in
        try await moveAvatarsToObjectStorage(context)
    }
    try await migrations.whenMigrating(toVersion: "1.3", in: connection) { db in
        try await db.query("UPDATE notes SET title = trim(title)")
    }
}

func migrate<Connection: AsyncSQLConnection & Sendable>(
    storeConnection: Connection,
    connection: Connection,
    log: @escaping @Sendable (String) -> Void
) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: SQLFleetStore(storeConnection),
        options: .init(attemptLimit: 3) { event in log("\(event.kind) \(event.note ?? "")") }
    )
    try await migrations.whenMigrating(toVersion: "1.2") { context in
        try await moveAvatarsToObjectStorage(context)
    }
    try await migrations.whenMigrating(toVersion: "1.3", in: connection) { db in
        try await db.query("UPDATE notes SET title = trim(title)")
    }
}

func manager(
    _ store: any FleetStore,
    hasNotes: () async throws -> Bool
) async throws -> FleetMigrationManager {
    try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: await hasNotes() ? .existingData(at: "1.1") : .everything,
        store: store
    )
}

func moveAvatarsToObjectStorage(_ context: FleetMigrationContext) async throws {
    var last = try context.checkpoint(as: Int.self) ?? 0
    while let batch = try await avatars(after: last) {
        try Task.checkCancellation()
        try await upload(batch, refusingBelow: context.fence)
        last = batch.last
        try await context.saveCheckpoint(last, progress: batch.progress)
    }
}

func mustDrain(_ migrations: FleetMigrationManager) async throws -> Bool {
    try await migrations.status.requiredVersion != nil
}

func declare(_ migrations: FleetMigrationManager) async throws {
    try await migrations.whenMigrating(toVersion: "1.2", oldestReader: "1.1") { context in
        try await moveAvatarsToObjectStorage(context)
    }
}

func job(_ store: any FleetStore) async throws {
    try await declare(
        FleetMigrationManager(named: "Data", currentVersion: "1.3", firstRun: .everything, store: store)
    )
}

func pod(_ store: any FleetStore) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        store: store,
        options: .init(isReadOnly: true)
    )
    try await migrations.untilMigrated(declare)
}

func readyz(_ migrations: FleetMigrationManager) async throws -> Bool {
    try await migrations.isMigrated(declare)
}

private struct Batch {
    let last: Int
    let progress: Double
}

private func avatars(after last: Int) async throws -> Batch? {
    last < 3 ? Batch(last: last + 1, progress: Double(last + 1) / 3) : nil
}

private func upload(_ batch: Batch, refusingBelow fence: Int) async throws {
    let uploads = Uploads.current
    uploads.log.add("\(batch.last) fence \(fence)")
    if uploads.failing == batch.last { throw TestStore.Failure() }
}

/// What was uploaded for the test that runs a sample; one batch can fail.
private struct Uploads: Sendable {
    @TaskLocal static var current = Uploads()

    let log = Log()
    var failing: Int?

    func during(_ body: () async throws -> Void) async rethrows {
        try await Self.$current.withValue(self) { try await body() }
    }
}

@Suite struct SamplesOfSeveralHosts {
    @Test func `a job migrates and the pods become ready`() async throws {
        let store = InMemoryFleetStore()
        try await keptOrTriedAgain { try await job(store) }
        try await pod(store)
        let migrations = try await manager(store) { false }
        #expect(try await readyz(migrations))
        #expect(try await !mustDrain(migrations))
    }

    @Test func `a server of the last release learns that it must drain, and a probe that work is pending`()
        async throws
    {
        let store = InMemoryFleetStore()
        func server(_ version: String) async throws -> FleetMigrationManager {
            try await FleetMigrationManager(named: "Data", currentVersion: version, store: store)
        }
        let old = try await server("1.0")
        #expect(try await !mustDrain(old))
        let probe = try await server("1.3")
        #expect(try await !readyz(probe))
        try await keptOrTriedAgain { try await job(store) }
        #expect(try await mustDrain(old))
        #expect(try await !mustDrain(server("1.1")))
        #expect(try await readyz(probe))
    }

    @Test(arguments: [(true, "1.1"), (false, "0")])
    func `the first host says what data there is, and no later one is asked`(hasNotes: Bool, version: String)
        async throws
    {
        let store = InMemoryFleetStore()
        let first = try await manager(store) { hasNotes }
        #expect(first.lastRunVersion == AppVersion(version))
        try await keptOrTriedAgain { try await job(store) }
        let later = try await manager(store) {
            Issue.record("A host that came later was asked.")
            return !hasNotes
        }
        #expect(later.lastRunVersion == AppVersion("1.2"))
    }

    @Test func `the next attempt goes on behind the last checkpoint, with a higher fence`() async throws {
        let store = InMemoryFleetStore()
        let failing = Uploads(failing: 2)
        let code = await code {
            try await failing.during { try await keptOrTriedAgain { try await job(store) } }
        }
        #expect(code == .migrationFailed)
        #expect(failing.log.all == ["1 fence 1", "2 fence 1"])
        let second = Uploads()
        try await second.during { try await keptOrTriedAgain { try await job(store) } }
        #expect(second.log.all == ["2 fence 2", "3 fence 2"])
    }

    @Test(arguments: [true, false])
    func `each of two hosts starts, and everything was done once`(isLandingPage: Bool) async throws {
        try await withTemporaryFolder { folder async throws in
            let db = try AsyncSQLite(folder + "/db")
            _ = try await db.query("CREATE TABLE notes(title)", [])
            _ = try await db.query("INSERT INTO notes VALUES ('  one ')", [])
            let uploads = Uploads()
            let log = Log()
            for _ in 1...2 {
                let connections = (try AsyncSQLite(folder + "/db"), try AsyncSQLite(folder + "/db"))
                try await uploads.during {
                    try await keptOrTriedAgain {
                        if isLandingPage {
                            try await start(storeConnection: connections.0, connection: connections.1)
                        } else {
                            try await migrate(storeConnection: connections.0, connection: connections.1) {
                                log.add($0)
                            }
                        }
                    }
                }
                #expect(try await db.query("SELECT title FROM notes WHERE title = 'one'", []).count == 1)
                // What a second trim would take.
                _ = try await db.query("INSERT INTO notes VALUES (' two ')", [])
            }
            #expect(try await db.query("SELECT title FROM notes WHERE title = ' two '", []).count == 2)
            #expect(uploads.log.all == ["1 fence 1", "2 fence 1", "3 fence 1"])
            let kinds = log.all.map { String($0.prefix { $0 != " " }) }.filter { $0 != "progressed" }
            #expect(kinds == (isLandingPage ? [] : ["started", "finished", "started", "finished"]))
        }
    }
}
