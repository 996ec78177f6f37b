import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQLite
import TestSupport
import Testing

/// A transaction that is cut off: its connection fails, or its task is cancelled.
@Suite struct FleetTransactionTests {
    private func withDatabase(
        _ body: nonisolated(nonsending) (AsyncSQLite, SQLiteConnection) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let db = try AsyncSQLite(folder + "/data.sqlite")
            try await db.query("CREATE TABLE notes (title TEXT)")
            try await body(db, SQLiteConnection(path: folder + "/data.sqlite"))
        }
    }

    private func manager(_ db: AsyncSQLite) async throws -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: "Data",
            currentVersion: "1.4",
            firstRun: { .everything },
            store: SQLFleetStore(db),
            options: FleetMigrationManager.Options(),
            clock: ManualClock().clock,
            host: "a"
        )
    }

    @Test func `a rollback that fails is tried again, before anything is written behind it`() async throws {
        try await withDatabase { db, other async throws in
            let failures = Log()
            db.onStatement { sql in
                guard sql == "ROLLBACK", failures.all.isEmpty else { return .works }
                failures.add(sql)
                return .fails
            }
            let failed = await #expect(throws: MigrationError.self) {
                try await manager(db).whenMigrating(toVersion: "1.1", in: db) { db in
                    try await db.query("INSERT INTO notes VALUES ('one')")
                    throw TestStore.Failure()
                }
            }
            #expect(failed?.code == .migrationFailed && failed?.underlyingError is TestStore.Failure)
            #expect(failed?.description.contains("could not be rolled back either") == true)
            // Another connection sees the note, which was committed.
            let noted = "SELECT document LIKE '%could not be rolled back either%' FROM app_migration_state"
            #expect(try other.query(noted) == [[1]])
            try await db.query("BEGIN")
        }
    }

    @Test func `where no rollback succeeds nothing is written in the transaction`() async throws {
        try await withDatabase { db, _ async throws in
            db.onStatement { $0 == "ROLLBACK" ? .fails : .works }
            let failed = await #expect(throws: MigrationError.self) {
                try await manager(db).whenMigrating(toVersion: "1.1", in: db) { _ in
                    throw TestStore.Failure()
                }
            }
            #expect(failed?.description.contains("could not be noted either") == true)
            #expect(db.statements.last == "BEGIN")
        }
    }

    /// What becomes of work whose task is cancelled at a statement, on a connection that takes none in a cancelled task.
    private func cancelled(
        at end: String,
        _ answer: AsyncSQLite.Answer,
        in db: AsyncSQLite
    ) async throws -> MigrationError.Code? {
        let manager = try await manager(db)
        let (task, began) = (Guarded<Task<MigrationError.Code?, Never>?>(nil), Door())
        defer { task.destroy() }
        let ends = Log()
        db.onStatement { sql in
            guard sql == end, ends.all.isEmpty else { return Task.isCancelled ? .fails : .works }
            ends.add(sql)
            task.withLock { $0 }?.cancel()
            return Task.isCancelled ? answer : .works
        }
        let work = Task {
            await began.pass()
            return await code {
                try await manager.whenMigrating(toVersion: "1.1", in: db) {
                    try await $0.query("INSERT INTO notes VALUES ('one')")
                }
            }
        }
        task.withLock { $0 = work }
        began.open()
        return await work.value
    }

    @Test func `a commit that was cut off by a cancellation is found`() async throws {
        try await withDatabase { db, other async throws in
            #expect(try await cancelled(at: "COMMIT", .worksAndFails, in: db) == nil)
            #expect(try other.query("SELECT count(*) FROM notes") == [[1]])
            #expect(try await manager(db).lastRunVersion == AppVersion("1.1"))
        }
    }

    @Test func `a commit that a cancellation prevented is noted, and counts as no death`() async throws {
        try await withDatabase { db, other async throws in
            #expect(try await cancelled(at: "COMMIT", .fails, in: db) == .migrationFailed)
            #expect(try other.query("SELECT count(*) FROM notes") == [[0]])
            let interruption = try await manager(db).status.interruption
            #expect(interruption?.deaths == 0)
            #expect(interruption?.failure != nil)
        }
    }

    @Test func `a BEGIN that was cut off by a cancellation leaves no transaction`() async throws {
        try await withDatabase { db, other async throws in
            #expect(try await cancelled(at: "BEGIN IMMEDIATE", .worksAndFails, in: db) == .migrationFailed)
            let noted = "SELECT document LIKE '%\"failure\" : \"%' FROM app_migration_state"
            #expect(try other.query(noted) == [[1]])
            try await db.query("BEGIN")
        }
    }
}
