import AppMigrations
import AppMigrationsSQLite
import Testing

/// Batches on a connection that is awaited.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct AwaitedBatchesTests {
    let library: Library

    init() throws { library = try Library() }

    /// Logs the numbers from the cursor on, up to 3.
    private nonisolated(nonsending) func count(
        during: nonisolated(nonsending) (AwaitedConnection, Int) async throws -> Void = { _, _ in }
    ) async throws -> Bool {
        try await library.manager().manager.whenMigrating(toVersion: "1.4", in: AwaitedConnection(library.db))
        {
            db,
            batch,
            _ in
            let number = try (batch.cursor(as: Int.self) ?? 0) + 1
            try await db.query("INSERT INTO log VALUES (?)", [SQLValue("\(number)")])
            try await during(db, number)
            return number == 3 ? .done : .continue(at: number)
        }
    }

    @Test func `each batch gets the cursor of the one before it, and none runs again`() async throws {
        #expect(try await count())
        #expect(try library.log == [["1"], ["2"], ["3"]])
        #expect(try library.db.query("SELECT cursor FROM app_migrations") == [[nil]])
        #expect(try library.manager().manager.lastRunVersion == AppVersion("1.4"))
        try library.manager().manager.reset(to: "1.0")
        #expect(try await !count())
        #expect(try library.log.count == 3)
    }

    @Test(arguments: ["it throws", "COMMIT", "ROLLBACK"])
    func `a batch that fails is rolled back, and the next start goes on behind those before it`(
        failure: String
    ) async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await count { db, number in
                if number < 2 { return }
                if failure == "it throws" { throw Failure() }
                try await db.query("DELETE FROM log WHERE version = '2'")
                try await db.query(failure)
            }
        }
        if failure == "it throws" {
            #expect(error?.underlyingError is Failure)
        } else {
            #expect((error?.underlyingError as? SQLError)?.code == .transactionEnded)
        }
        #expect(try library.db.query("SELECT cursor FROM app_migrations") == [["1"]])
        #expect(try await count())
        #expect(try library.log == [["1"], ["2"], ["3"]])
    }
}
