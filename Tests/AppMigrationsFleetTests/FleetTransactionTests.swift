import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQLite
import Testing

/// A transaction that is cut off: its connection fails, or its task is cancelled.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetTransactionTests {
    let place: Place
    let db: PostgresStandIn
    /// Another connection, which sees what was committed.
    let other: SQLiteConnection

    init() async throws {
        place = try await Place()
        db = place.db
        other = try SQLiteConnection(path: place.path)
    }

    @Test(arguments: [PostgresStandIn.Answer.works, .fails])
    func `a closure that throws leaves nothing, also where the rollback fails`(
        _ rollback: PostgresStandIn.Answer
    )
        async throws
    {
        db.onStatement { $0 == "ROLLBACK" ? rollback : .works }
        let manager = try await place.manager()
        let failed = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await place.insert(db)
                throw TestStore.Failure()
            }
        }
        #expect(failed?.code == .migrationFailed && failed?.underlyingError is TestStore.Failure)
        #expect(db.isClosed)
        #expect(try other.query("SELECT count(*) FROM notes") == [[0]])
        #expect(try await manager.status.latestAttempt?.failure == "the network is gone")
        #expect(try await manager.status.latestAttempt?.isUnderWay == false)
    }

    /// Not every server tells of its processes.
    @Test(arguments: [true, false])
    func `a statement on a connection that went silent ends with the server's process for it`(tells: Bool)
        async throws
    {
        try other.query("PRAGMA journal_mode = WAL")
        let began = Log()
        let store = PostgresFleetStore {
            let db = try PostgresStandIn(place.path)
            db.onStatement { sql in
                sql.contains("pg_stat_activity") && !(tells && began.lines.isEmpty) ? .gives([]) : .works
            }
            return db
        }
        place.db.onStatement { sql in
            guard sql == "SELECT 1" else { return .works }
            began.add(sql)
            return .hangs
        }
        let manager = try await FleetMigrationManager(on: store, clock: place.clock)
        let work = Call {
            await code {
                try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db, _ in
                    try await db.query("SELECT 1")
                }
            }
        }
        try await waitUntil { !began.lines.isEmpty || work.hasEnded }
        // The lease is renewed, and the server is watched where it tells.
        try await place.clock.pass(.seconds(90), waiting: 0, timers: tells ? 2 : 1) { place.db.isClosed }
        #expect(place.db.isClosed == tells)
        await place.db.close()
        #expect(try await work.value == .migrationFailed)
    }

    /// Cancels a migration's task at a statement, on a connection that takes none in a cancelled task.
    private func cancelled(
        at end: String,
        _ answer: PostgresStandIn.Answer
    ) async throws -> MigrationError.Code? {
        let manager = try await place.manager()
        let task = Guarded<Call<MigrationError.Code?>?>(nil)
        let began = Door()
        let ends = Log()
        db.onStatement { sql in
            guard sql == end, ends.lines.isEmpty else { return Task.isCancelled ? .fails : .works }
            ends.add(sql)
            task.withLock { $0 }?.cancel()
            return Task.isCancelled ? answer : .works
        }
        let work = Call {
            await began.pass()
            return await code { _ = try await place.migrate(manager) }
        }
        task.withLock { $0 = work }
        began.open()
        return try await work.value
    }

    /// The work of such a closure isn't committed together with the record of the migration.
    @Test(arguments: [true, false])
    func `a closure without a connection, whose lease was taken, is told the server's message alone`(
        isNoticed: Bool
    ) async throws {
        let manager = try await place.manager()
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") { context in
                let owner = #"replace(document, '"owner" : "a,', '"owner" : "b,')"#
                place.edit("revision = revision + 1, document = \(owner)")
                if isNoticed { _ = await code { try await context.saveCheckpoint(1) } }
                throw PostgresStandIn.Gone(state: "25P03")
            }
        }
        #expect(error?.code == .leaseLost)
        let text = error?.description ?? ""
        #expect(text.contains(" Its closure had failed: the server says 25P03 "), "\(text)")
        #expect(!text.contains("You need do nothing"), "\(text)")
    }

    @Test func `work that is done is recorded, also where its task is cancelled at the commit`() async throws
    {
        #expect(try await cancelled(at: "COMMIT", .worksAndFails) == nil)
        #expect(try other.query("SELECT count(*) FROM notes") == [[1]])
        #expect(try await place.manager().lastRunVersion == AppVersion("1.1"))
    }

    @Test func `a BEGIN that was cut off by a cancellation leaves no transaction`() async throws {
        let code = try await cancelled(at: "BEGIN ISOLATION LEVEL READ COMMITTED", .worksAndFails)
        #expect(code == .cancelled)
        let noted = "SELECT document LIKE '%\"failure\" : \"%' FROM app_migration_state"
        #expect(try other.query(noted) == [[1]])
        try await db.query("BEGIN")
    }
}
