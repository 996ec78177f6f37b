import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQLite
import Testing

/// A transaction that is cut off: its connection fails, or its task is cancelled.
@Suite(.temporaryDirectory) struct FleetTransactionTests {
    let place: Place
    let db: AsyncSQLite
    /// Another connection, which sees what was committed.
    let other: SQLiteConnection

    init() async throws {
        place = try await Place()
        db = place.db
        other = try SQLiteConnection(path: place.path)
    }

    @Test func `a rollback that fails is tried again, before anything is written behind it`() async throws {
        let failures = Log()
        db.onStatement { sql in
            guard sql == "ROLLBACK", failures.lines.isEmpty else { return .works }
            failures.add(sql)
            return .fails
        }
        let failed = await #expect(throws: MigrationError.self) {
            try await place.manager().whenMigrating(toVersion: "1.1", in: db) { db in
                try await place.insert(db)
                throw TestStore.Failure()
            }
        }
        #expect(failed?.code == .migrationFailed && failed?.underlyingError is TestStore.Failure)
        #expect(failed?.description.contains("could not be rolled back either") == true)
        let noted = "SELECT document LIKE '%could not be rolled back either%' FROM app_migration_state"
        #expect(try other.query(noted) == [[1]])
        try await db.query("BEGIN")
    }

    @Test func `where no rollback succeeds nothing is written in the transaction`() async throws {
        db.onStatement { $0 == "ROLLBACK" ? .fails : .works }
        let failed = await #expect(throws: MigrationError.self) {
            try await place.manager().whenMigrating(toVersion: "1.1", in: db) { _ in
                throw TestStore.Failure()
            }
        }
        #expect(failed?.description.contains("could not be noted either") == true)
        #expect(db.statements.last == "BEGIN")
    }

    /// What becomes of work whose task is cancelled at a statement, on a connection that takes none in a cancelled task.
    private func cancelled(
        at end: String,
        _ answer: AsyncSQLite.Answer
    ) async throws -> MigrationError.Code? {
        let manager = try await place.manager()
        let task = Guarded<Task<MigrationError.Code?, Never>?>(nil)
        let began = Door()
        let ends = Log()
        db.onStatement { sql in
            guard sql == end, ends.lines.isEmpty else { return Task.isCancelled ? .fails : .works }
            ends.add(sql)
            task.withLock { $0 }?.cancel()
            return Task.isCancelled ? answer : .works
        }
        let work = Task {
            await began.pass()
            return await code { _ = try await place.migrate(manager) }
        }
        task.withLock { $0 = work }
        began.open()
        return await work.value
    }

    @Test func `a commit that was cut off by a cancellation is found`() async throws {
        #expect(try await cancelled(at: "COMMIT", .worksAndFails) == nil)
        #expect(try other.query("SELECT count(*) FROM notes") == [[1]])
        #expect(try await place.manager().lastRunVersion == AppVersion("1.1"))
    }

    @Test func `a commit that a cancellation prevented is noted, and counts as no death`() async throws {
        #expect(try await cancelled(at: "COMMIT", .fails) == .migrationFailed)
        #expect(try other.query("SELECT count(*) FROM notes") == [[0]])
        let interruption = try await place.manager().status.interruption
        #expect(interruption?.deaths == 0)
        #expect(interruption?.failure != nil)
    }

    @Test func `a BEGIN that was cut off by a cancellation leaves no transaction`() async throws {
        #expect(try await cancelled(at: "BEGIN IMMEDIATE", .worksAndFails) == .migrationFailed)
        let noted = "SELECT document LIKE '%\"failure\" : \"%' FROM app_migration_state"
        #expect(try other.query(noted) == [[1]])
        try await db.query("BEGIN")
    }
}
