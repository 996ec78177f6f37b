import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Transactions of PostgreSQL whose statements fail before or after the server has done them.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetPostgresTests {
    let path = TemporaryDirectory.current.file("data.sqlite")
    let db: PostgresStandIn

    init() async throws {
        db = try PostgresStandIn(path)
        try await db.query("CREATE TABLE notes (title TEXT)")
    }

    /// How a migration that writes a note ends.
    private func migrate(_ manager: FleetMigrationManager) async -> MigrationError.Code? {
        await code {
            try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await db.query("INSERT INTO notes VALUES ('one')")
            }
        }
    }

    @Test(arguments: ["SELECT revision", "DO", "INSERT"])
    func `a table that another host makes while this one looks for it is there`(_ statement: String)
        async throws
    {
        let failures = Log()
        db.onStatement { [path] sql in
            guard sql.hasPrefix(statement), failures.lines.isEmpty else { return .works }
            failures.add(sql)
            try SQLiteConnection(path: path).execute(
                script:
                    "CREATE TABLE IF NOT EXISTS app_migration_state(name TEXT PRIMARY KEY, revision, document)"
            )
            throw PostgresStandIn.Gone(state: "42P01")
        }
        _ = try await FleetMigrationManager(on: PostgresFleetStore { [db] in db })
        #expect(failures.lines.count == 1)
        #expect(try await db.query("SELECT count(*) FROM app_migration_state") == [[1]])
    }

    @Test(arguments: ["42501", ""], [true, false])
    func `an error of another kind is asked no further`(_ state: String, connects: Bool) async throws {
        db.onStatement { _ in throw PostgresStandIn.Gone(state: state) }
        let error = await #expect(throws: MigrationError.self) {
            _ = try await FleetMigrationManager(
                on: PostgresFleetStore { [db] in
                    if !connects { throw PostgresStandIn.Gone(state: state) }
                    return db
                }
            )
        }
        let text = error?.description ?? ""
        #expect(error?.code == .stateUnreadable)
        #expect(db.statements.count == (!connects ? 1 : state.isEmpty ? 3 : 2))
        #expect(text.contains("the server says \(state)"), "\(text)")
        #expect(text.contains("Try again when the store can be reached.") == state.isEmpty, "\(text)")
    }

    @Test(arguments: ["BEGIN", "SELECT set_config(name"])
    func `a connection is in no transaction after one that began without an answer`(_ start: String)
        async throws
    {
        let manager = try await FleetMigrationManager(on: postgresStore(path))
        db.onStatement { $0.hasPrefix(start) ? .worksAndFails : .works }
        #expect(await migrate(manager) == .migrationFailed)
        #expect(try !db.isInTransaction)
        let seen = try await FleetMigrationManager(on: postgresStore(path)).status
        #expect(seen.latestAttempt?.failure == "server closed the connection unexpectedly")
    }

    @Test func `no time-out ends a long closure, and a host that vanishes is looked for`() async throws {
        #expect(await migrate(try await FleetMigrationManager(on: postgresStore(path))) == nil)
        let times = try #require(db.statements.first { $0.hasPrefix("SELECT set_config(name, CASE") })
        let words = times.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        for part in [
            "'statement_timeout'", "'transaction_timeout'", "ELSE '2147483647'",
            "'tcp_keepalives_idle' THEN '10'",
            "'tcp_keepalives_interval' THEN '5'", "'tcp_keepalives_count' THEN '3'",
            "'idle_in_transaction_session_timeout' THEN '30001'",
        ] { #expect(words.contains(part)) }
    }

    @Test func `a server that commits later writes a lease at once`() async throws {
        let manager = try await FleetMigrationManager(on: PostgresFleetStore { [db] in db })
        try await manager.whenMigrating(toVersion: "1.1") {}
        let updates = db.statements.filter { $0.hasPrefix("UPDATE") }
        #expect(updates.count == 2)
        #expect(updates.allSatisfy { $0.contains("set_config('synchronous_commit', 'local', true)") })
    }

    /// Not every client hands over why a server has ended a connection.
    @Test(arguments: ["25P03", nil], [true, false])
    func `a transaction whose host sends nothing ends after the length of a lease`(
        _ state: String?,
        inClosure: Bool
    ) async throws {
        // A server's readers don't keep its writers waiting: the lease is renewed while the transaction is open.
        try await db.query("PRAGMA journal_mode = WAL")
        let clock = ManualClock()
        let began = clock.now
        db.onStatement { _ in
            if clock.now > began { throw PostgresStandIn.Gone(state: state) }
            return .works
        }
        let error = await #expect(throws: MigrationError.self) {
            let manager = try await FleetMigrationManager(on: postgresStore(path), clock: clock)
            try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                clock.advance(by: .seconds(30))
                if inClosure { try await db.query("INSERT INTO notes VALUES ('two')") }
            }
        }
        let text = error?.description ?? ""
        #expect(text.contains(state.map { "the server says \($0)" } ?? "server closed"), "\(text)")
        #expect(text.contains("Make leaseDuration longer"), "\(text)")
    }

    @Test func `what a closure has set is put back before the record`() async throws {
        #expect(await migrate(try await FleetMigrationManager(on: postgresStore(path))) == nil)
        let statements = db.statements
        let read = statements.indices.filter { statements[$0].hasPrefix("SELECT json_object_agg") }
        let work = try #require(statements.firstIndex { $0.hasPrefix("INSERT INTO notes") })
        let back = try #require(
            statements.firstIndex { $0.hasPrefix("SELECT set_config(name, session.value") }
        )
        #expect(read.count == 2 && read[1] < work && work < back)
        #expect(statements[back...].contains { $0.hasPrefix("UPDATE") })
    }

    @Test(arguments: [("53300", true), ("42501", false), ("", true)])
    func `a closure that can't connect is told in the words of the server, and may pass by its SQLSTATE`(
        state: String,
        isTransient: Bool
    ) async throws {
        let manager = try await FleetMigrationManager(on: postgresStore(path))
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") { throw PostgresStandIn.Gone(state: state) }
        }
        let cause = error?.underlyingError as? SQLError
        #expect(error?.code == .migrationFailed)
        #expect(error?.isTransient == isTransient)
        #expect(error?.description.contains("the server says \(state)") == true)
        #expect(cause?.underlyingError is PostgresStandIn.Gone)
    }

    @Test func `statements of a closure wait for a lock as long as the lock timeout says`() async throws {
        let manager = try await FleetMigrationManager(on: postgresStore(path))
        try await manager.whenMigrating(toVersion: "1.1", in: db) { _, _ in }
        try await manager.whenMigrating(toVersion: "1.2", in: db, lockTimeout: .seconds(4)) { _, _ in }
        let settings = db.statements.filter { $0.contains("WHEN 'lock_timeout' THEN") }
        #expect(settings.count == 2)
        #expect(settings[0].contains("THEN '60001'"))
        #expect(settings.allSatisfy { $0.contains("OR true AND name = 'lock_timeout'") })
        #expect(settings[1].contains("THEN '4001'"))
    }

    /// A store whose row a console has, while `isLocked`.
    private func locked(
        by blocker: @escaping @Sendable () -> [[SQLValue]] = { [["4711"]] },
        _ isLocked: @escaping @Sendable () -> Bool
    ) -> PostgresFleetStore<PostgresStandIn> {
        PostgresFleetStore { [path] in
            let db = try PostgresStandIn(path)
            db.onStatement { sql in
                if sql.contains("pg_locks") { return .gives(blocker()) }
                return sql.hasPrefix("UPDATE") && isLocked() ? .gives([]) : .works
            }
            return db
        }
    }

    @Test func `a host whose lease can't be saved in a locked row names the process after some seconds`()
        async throws
    {
        let clock = ManualClock()
        let log = Log()
        let isLocked = Guarded(true)
        var options = FleetMigrationManager.Options()
        options.onEvent = { log.add("\($0.kind) \($0.note ?? "")") }
        let store = locked { isLocked.withLock { $0 } }
        let manager = try await FleetMigrationManager(on: store, options: options, clock: clock)
        let task = Call { try await manager.whenMigrating(toVersion: "1.1") {} }
        let blocker = "waiting the open transaction of the server's process 4711"
        try await clock.pass(.seconds(4)) { task.hasEnded }
        #expect(log.lines == ["waiting another host"])
        try await clock.pass(.seconds(3)) { log.lines.contains(blocker) || task.hasEnded }
        #expect(log.lines == ["waiting another host", blocker])
        isLocked.withLock { $0 = false }
        try await clock.pass { task.hasEnded }
        #expect(try await task.value)
    }

    @Test func `processes that lock the row in turn are named once each in ten seconds`() async throws {
        let clock = ManualClock()
        let log = Log()
        let questions = Guarded(0)
        var options = FleetMigrationManager.Options()
        options.onEvent = { log.add("\($0.kind) \($0.note ?? "")") }
        let store = locked {
            let number = questions.withLock { questions in
                defer { questions += 1 }
                return questions
            }
            return [[["1"]], [], [["2"]]][number % 3]
        } _: {
            true
        }
        let manager = try await FleetMigrationManager(on: store, options: options, clock: clock)
        let task = Call { await code { try await manager.whenMigrating(toVersion: "1.1") {} } }
        try await clock.pass(.seconds(14)) { task.hasEnded }
        #expect(questions.withLock { $0 } > 6)
        let process = "waiting the open transaction of the server's process"
        #expect(log.lines == ["waiting another host", "\(process) 1", "\(process) 2"])
        task.cancel()
        #expect(try await task.value == .cancelled)
    }

    @Test func `a row that a console has is told with its process, and the note waits for it`() async throws {
        try await db.query("PRAGMA journal_mode = WAL")
        let clock = ManualClock()
        let waited = Guarded<Duration?>(nil)
        let store = locked { waited.withLock { $0.map { clock.now < $0 } } == true }
        db.onStatement { sql in
            guard sql.hasPrefix("UPDATE") else { return .works }
            waited.withLock { $0 = clock.now + .seconds(2) }
            throw PostgresStandIn.Gone(state: "55P03")
        }
        let manager = try await FleetMigrationManager(on: store, clock: clock)
        let task = Call {
            await #expect(throws: MigrationError.self) {
                try await manager.whenMigrating(toVersion: "1.1", in: db) { _, _ in
                    // The lease is renewed meanwhile, and the server asked for the connection, which makes no advice of it.
                    try await clock.pass(.seconds(35), waiting: 0, timers: 2)
                }
            }
        }
        try await waitUntil { waited.withLock { $0 } != nil || task.hasEnded }
        try await clock.pass { task.hasEnded }
        let text = try await task.value?.description ?? ""
        #expect(text.contains("the server says 55P03"), "\(text)")
        #expect(text.hasSuffix("is locked by the open transaction of the server's process 4711."), "\(text)")
        #expect(try await manager.status.latestAttempt?.failure?.contains("55P03") == true)
        // Below the deadline of 15 seconds.
        #expect(db.statements.contains("SET LOCAL lock_timeout = 11250"))
    }

    @Test func `a wait for a row that a console has names its process after one lease`() async throws {
        let (clock, told) = (ManualClock(), Log())
        var options = FleetMigrationManager.Options(lockTimeout: .seconds(60))
        options.onEvent = { told.add("\($0.kind): \($0.note ?? "")") }
        let manager = try await FleetMigrationManager(on: locked { true }, options: options, clock: clock)
        let task = Call {
            await #expect(throws: MigrationError.self) {
                try await manager.whenMigrating(toVersion: "1.1") {}
            }
        }
        try await clock.pass(.seconds(59)) { told.lines.count == 6 || task.hasEnded }
        let process = "the open transaction of the server's process 4711"
        #expect(told.lines.first == "waiting: another host")
        #expect(told.lines.last == "waiting: \(process)")
        try await clock.pass { task.hasEnded }
        let error = try await task.value
        #expect(
            error?.code == .lockTimeout
                && error?.description.contains("for \(process). Migration 1.1 was not run.") == true
        )
    }

    @Test(arguments: [["COMMIT"], ["COMMIT", "ROLLBACK"]])
    func `what only the transaction itself sees is no commit`(_ failing: [String]) async throws {
        let manager = try await FleetMigrationManager(on: postgresStore(path))
        db.onStatement { failing.contains($0) ? .fails : .works }
        #expect(await migrate(manager) == .migrationFailed)
        let next = try await FleetMigrationManager(on: postgresStore(path))
        #expect(next.lastRunVersion == .zero)
        db.onStatement { _ in .works }
        #expect(try await db.query("SELECT count(*) FROM notes") == [[0]])
        #expect(await migrate(next) == nil)
    }
}
