import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import TestSupport
import Testing

@Suite struct SeveralHostsArticleTests {
    @Test func `a job migrates and the pods become ready`() async throws {
        let store = InMemoryFleetStore()
        try await job(store)
        try await pod(store)
        let migrations = try await manager(store) { false }
        #expect(try await readyz(migrations).isReady)
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
        #expect(try await readyz(probe).text == "The data isn't migrated yet.")
        try await job(store)
        #expect(try await mustDrain(old))
        #expect(try await readyz(old).text == "This needs release 1.1.")
        #expect(try await !mustDrain(server("1.1")))
        #expect(try await readyz(probe).isReady)
    }

    @Test func `a start tries again after what may pass, and after nothing else`() async throws {
        let store = TestStore()
        store.onRead { _ in .fails }
        var pauses = 0
        try await startService(store) {
            pauses += 1
            store.works()
        }
        #expect(pauses == 1)
        let lost = await code {
            try await Uploads(failing: 2)
                .during {
                    try await startService(InMemoryFleetStore()) { pauses += 1 }
                }
        }
        #expect(lost == .migrationFailed)
        #expect(pauses == 6)
        let door = Door()
        let cancelled = Task {
            await door.pass()
            return await code {
                try await startService(InMemoryFleetStore()) { Issue.record("It tried again.") }
            }
        }
        cancelled.cancel()
        door.open()
        #expect(await cancelled.value == .cancelled)
    }

    @Test func `a probe says why the migration failed`() async throws {
        let store = InMemoryFleetStore()
        #expect(
            await code { try await Uploads(failing: 2).during { try await job(store) } } == .migrationFailed
        )
        let answer = try await readyz(manager(store) { false })
        #expect(!answer.isReady)
        #expect(answer.text == "the network is gone")
    }

    @Test func `a release that is rolled back before it migrated leaves the old one its work`() async throws {
        let store = InMemoryFleetStore()
        let newer = try await FleetMigrationManager(
            named: "Data",
            currentVersion: "2.0",
            firstRun: .everything,
            store: store
        )
        #expect(
            await code {
                try await newer.whenMigrating(toVersion: "1.2") { throw TestStore.Failure() }
            } == .migrationFailed
        )
        try await job(store)
        let old = try await manager(store) { false }
        #expect(try await !readyz(old).isReady)
        try await old.reset(to: old.lastRunVersion.description)
        try await declare(old)
        #expect(try await readyz(old).isReady)
    }

    @Test func `an old database with numbered files begins behind its baseline`() async throws {
        try await withTemporaryFolder { folder async throws in
            let db = try AsyncSQLite(folder + "/db")
            let migrator = try SQLMigrator<AsyncSQLite>([
                SQLMigration(version: 1, sql: "CREATE TABLE notes(title)"),
                SQLMigration(version: 2, sql: "ALTER TABLE notes ADD COLUMN day"),
            ])
            try await db.query("CREATE TABLE notes(title)")
            let store = InMemoryFleetStore()
            for _ in 1...2 {
                let migrations = try await manager(store) {
                    try await migrator.baseline(db, at: 1)
                    return true
                }
                try await migrateSchema(migrations, migrator, db)
            }
            #expect(try await migrator.status(db).applied == [1, 2])
        }
    }

    @Test func `numbered files run once for two hosts, and raise the floor`() async throws {
        try await withTemporaryFolder { folder async throws in
            let db = try AsyncSQLite(folder + "/db")
            let migrator = try SQLMigrator<AsyncSQLite>([
                SQLMigration(version: 1, sql: "CREATE TABLE notes(title)"),
                SQLMigration(version: 2, sql: "ALTER TABLE notes ADD COLUMN day"),
            ])
            let store = InMemoryFleetStore()
            let old = try await FleetMigrationManager(named: "Data", currentVersion: "1.0", store: store)
            for _ in 1...2 {
                try await migrateSchema(manager(store) { false }, migrator, db)
            }
            #expect(try await migrator.status(db).applied == [1, 2])
            #expect(try await old.status.history.map(\.version.description) == ["1.2", "1.3"])
            #expect(try await old.status.requiredVersion == AppVersion("1.1"))
        }
    }

    @Test func `a pod doesn't start on data that are for newer releases`() async throws {
        let store = InMemoryFleetStore()
        try await job(store)
        let newer = try await FleetMigrationManager(named: "Data", currentVersion: "2.0", store: store)
        try await newer.whenMigrating(toVersion: "2.0", oldestReader: "2.0") {}
        let error = await #expect(throws: TooOld.self) { try await pod(store) }
        #expect(error?.required == AppVersion("2.0"))
    }

    @Test(arguments: [(true, "1.1"), (false, "0")])
    func `the first host says what data there is, and no later one is asked`(hasNotes: Bool, version: String)
        async throws
    {
        let store = InMemoryFleetStore()
        let first = try await manager(store) { hasNotes }
        #expect(first.lastRunVersion == AppVersion(version))
        try await job(store)
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
            try await failing.during { try await job(store) }
        }
        #expect(code == .migrationFailed)
        #expect(failing.log.all == ["1 fence 1", "2 fence 1"])
        let second = Uploads()
        try await second.during { try await job(store) }
        #expect(second.log.all == ["2 fence 2", "3 fence 2"])
    }

    @Test func `the samples of the manager run once for two hosts`() async throws {
        try await withTemporaryFolder { folder async throws in
            let store = InMemoryFleetStore()
            let uploads = Uploads()
            try await uploads.during {
                for _ in 1...2 { try await start(store) }
            }
            #expect(uploads.log.all == ["0 fence 0"])
            let db = try AsyncSQLite(folder + "/db")
            _ = try await db.query("CREATE TABLE notes(title)", [])
            for _ in 1...2 {
                _ = try await db.query("INSERT INTO notes VALUES (' one ')", [])
                try await startTogether(AsyncSQLite(folder + "/db"), db)
            }
            #expect(try await db.query("SELECT title FROM notes", []) == [["one"], [" one "]])
        }
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
                    if isLandingPage {
                        try await start(storeConnection: connections.0, connection: connections.1)
                    } else {
                        try await migrate(storeConnection: connections.0, connection: connections.1) {
                            log.add($0)
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
