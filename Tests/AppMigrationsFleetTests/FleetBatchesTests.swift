import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Batches of a fleet, in a database that isn't the store.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetBatchesTests {
    let fleet = Fleet()
    let db: BatchConnection

    init() async throws {
        db = BatchConnection(base: try PostgresStandIn(TemporaryDirectory.current.file("data.sqlite")))
        try await db.query("CREATE TABLE log (number INTEGER)")
    }

    /// Logs the numbers from the cursor on, up to 3.
    private func count(
        _ manager: FleetMigrationManager,
        during: (Int) async throws -> Void = { _ in }
    ) async throws -> Bool {
        db.base.open()
        return try await manager.whenMigrating(toVersion: "1.4", in: db) { db, batch, _ in
            let number = try (batch.cursor(as: Int.self) ?? 0) + 1
            _ = try await db.query("INSERT INTO log VALUES (?)", [SQLValue(number)])
            try await during(number)
            return number == 3 ? .done : .continue(at: number, progress: Double(number) / 3)
        }
    }

    private var numbers: [[SQLValue]] {
        get async throws { try await db.query("SELECT number FROM log ORDER BY number") }
    }

    @Test func `each batch runs once, and its cursor is a checkpoint in the store`() async throws {
        #expect(try await count(fleet.host()))
        #expect(try await numbers == [[1], [2], [3]])
        #expect(db.base.isClosed)
        #expect(try await !count(fleet.host("b")))
        #expect(fleet.log.lines.count { $0 == "a progressed" } == 2)
    }

    @Test func `batches of a version that a hotfix brought run once, below the last-run version`()
        async throws
    {
        try await fleet.host(at: "1.5").whenMigrating(toVersion: "1.5") {}
        for isFirst in [true, false] {
            db.base.open()
            let ran = try await fleet.host(at: "1.5").whenMigrating(
                toVersion: "1.4",
                addedIn: "1.5",
                in: db
            ) {
                db,
                _,
                _ in
                _ = try await db.query("INSERT INTO log VALUES (1)", [])
                return .done
            }
            #expect(ran == isFirst)
        }
        #expect(try await numbers == [[1]])
    }

    @Test func `another host goes on where one failed`() async throws {
        let failed = await code {
            _ = try await count(fleet.host()) { if $0 == 3 { throw TestStore.Failure() } }
        }
        #expect(failed == .migrationFailed)
        let status = try await fleet.host("b").status
        #expect(status.latestAttempt?.failure == "the network is gone")
        #expect(status.latestAttempt?.checkpoint == "2")
        #expect(try await count(fleet.host("c")))
        #expect(try await numbers == [[1], [2], [3]])
    }

    @Test func `a host that lost its lease in a batch leaves nothing of it`() async throws {
        let manager = try await fleet.host()
        let second = Door()
        let end = Door()
        let lost = Call {
            await code {
                _ = try await count(manager) { number in
                    guard number == 2 else { return }
                    fleet.store.onWrite { _, _ in .fails }
                    second.open()
                    await end.pass()
                    try Task.checkCancellation()
                }
            }
        }
        try await waitUntil { second.isOpen || lost.hasEnded }
        try await fleet.pass(waiting: 0, timers: 1) { db.base.isClosed || lost.hasEnded }
        // A statement of the closure that hangs ends by it.
        #expect(db.base.isClosed)
        fleet.store.works()
        end.open()
        #expect(try await lost.value == .leaseLost)
        #expect(try await numbers == [[1]])
        let successor = try await fleet.host("b")
        let task = Call { try await count(successor) }
        try await fleet.pass { task.hasEnded }
        #expect(try await task.value)
        #expect(try await numbers == [[1], [2], [3]])
    }

    /// With the other SQLSTATEs the connection works, and the closure has failed for a reason of its own.
    @Test(arguments: ["25P03", "57P01", "08006", "", "25P02", "42501", "53300", "55P03"])
    func `a host that wakes up after its lease was taken is told that its transaction needs no care`(
        state: String
    ) async throws {
        let manager = try await fleet.host()
        let error = await #expect(throws: MigrationError.self) {
            _ = try await count(manager) { _ in
                try await fleet.store.edit(#""owner" : "a,"#, to: #""owner" : "b,"#)
                throw PostgresStandIn.Gone(state: state)
            }
        }
        #expect(error?.code == .leaseLost)
        let text = error?.description ?? ""
        let comfort = "Its transaction has ended (the server says \(state)). You need do nothing about that"
        let hasEnded = ["25P03", "57P01", "08006", ""].contains(state)
        #expect(text.contains(comfort) == hasEnded, "\(text)")
        #expect(text.contains("Its closure had failed: ") == !hasEnded, "\(text)")
    }

    @Test(arguments: ["40001", "40P01"])
    func `a batch that met a deadlock runs again`(state: String) async throws {
        let failures = Log()
        let ran = try await count(fleet.host()) { _ in
            if failures.lines.count == 3 { return }
            failures.add("one")
            throw PostgresStandIn.Gone(state: state)
        }
        #expect(ran)
        #expect(try await numbers == [[1], [2], [3]])
        let last = await code {
            _ = try await fleet.host("b", at: "1.5").whenMigrating(toVersion: "1.5", in: db) { _, _, _ in
                throw PostgresStandIn.Gone(state: state)
            }
        }
        #expect(last == .migrationFailed)
    }

    @Test(arguments: ["BEGIN", "COMMIT"])
    func `a statement that isn't answered ends with its connection, and nothing is sent after it`(
        word: String
    ) async throws {
        let manager = try await fleet.host()
        db.base.onStatement { $0.hasPrefix(word) ? .hangs : .works }
        let task = Call { await code { _ = try await count(manager) } }
        try await fleet.clock.pass(
            timers: 1,
            until: { db.base.isClosed || task.hasEnded },
            hanging: { db.base.hanging }
        )
        #expect(try await task.value == .migrationFailed)
        #expect(db.base.statements.last?.hasPrefix(word) == true)
        db.base.onStatement { _ in .works }
        #expect(try await count(fleet.host("b")))
        #expect(try await numbers == [[1], [2], [3]])
    }

    /// If the savepoint is missing, the state is 3B001.
    ///
    /// After a shutdown it is 57P01, and a lost connection has none. Then the closure has not ended the
    /// transaction.
    @Test(arguments: ["", "3B001", "57P01"])
    func `a batch whose savepoint is gone says what the server said`(state: String) async throws {
        db.base.onStatement { sql in
            if sql.hasPrefix("RELEASE") { throw PostgresStandIn.Gone(state: state) }
            return .works
        }
        let error = await #expect(throws: MigrationError.self) { _ = try await count(fleet.host()) }
        let text = error?.description ?? ""
        #expect(text.contains("the server says \(state)"), "\(text)")
        #expect(text.contains("ended its transaction (the server says") == (state == "3B001"), "\(text)")
    }

    @Test func `a reset runs ended batches again only if it deletes their rows, else an event says so`()
        async throws
    {
        #expect(try await count(fleet.host()))
        let manager = try await fleet.host("b")
        try await manager.reset(to: "1.0")
        #expect(try await !count(manager))
        #expect(try await numbers.count == 3)
        let notes = fleet.log.lines.filter { $0.contains("finished") }
        #expect(notes == ["a finished", "b finished no batch ran"])
        try await manager.reset(to: "1.0", in: db)
        #expect(try await count(manager))
        #expect(try await numbers.count == 6)
    }

    @Test func `a cancelled task ends between two batches, and is no failure`() async throws {
        let manager = try await fleet.host()
        let end = try await Call {
            await #expect(throws: MigrationError.self) {
                try await count(manager) { if $0 == 2 { withUnsafeCurrentTask { $0?.cancel() } } }
            }
        }.value
        #expect(end?.code == .cancelled, "\(end)")
        #expect(try await count(fleet.host("b")))
        #expect(try await numbers == [[1], [2], [3]])
    }
}

/// SQLite as a connection that is awaited, which fails where a test wants it to.
struct BatchConnection: AsyncSQLConnection {
    let base: PostgresStandIn

    static var dialect: SQLDialect { .sqlite }

    static func serverError(from error: any Error) -> ServerError? {
        PostgresStandIn.serverError(from: error)
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try await base.query(sql, arguments)
    }

    nonisolated(nonsending) func close() async { await base.close() }
}
