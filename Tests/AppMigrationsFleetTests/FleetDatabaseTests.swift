import AppMigrations
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

@testable import AppMigrationsFleet

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetDatabaseTests {
    let place: Place

    init() async throws { place = try await Place() }

    @Test func `work and record are one transaction, on a connection of its own that is closed`() async throws
    {
        let manager = try await place.manager()
        for version in ["1.1", "1.1-1"] {
            let before = place.db.statements.count
            #expect(try await place.migrate(manager, to: version))
            let words = place.db.statements.dropFirst(before).map { $0.prefix { $0 != " " } }
            #expect(words.count { $0 == "BEGIN" } == 1)
            #expect(words.suffix(6) == ["INSERT", "SELECT", "SELECT", "SET", "UPDATE", "COMMIT"])
            #expect(place.db.isClosed)
        }
        #expect(try await place.notes() == 2)
        #expect(try await !place.migrate(place.manager("b"), to: "1.1-1"))
        #expect(try await place.manager("c").lastRunVersion == AppVersion("1.1-1"))
    }

    @Test func `a version that a hotfix brought runs once, below the last-run version`() async throws {
        #expect(try await place.migrate(place.manager(), to: "1.2"))
        for isFirst in [true, false] {
            let manager = try await place.manager("b")
            let ran = try await manager.whenMigrating(toVersion: "1.1", addedIn: "1.2", in: place.db) {
                _,
                _ in
            }
            #expect(ran == isFirst)
            #expect(manager.lastRunVersion == AppVersion("1.2"))
        }
    }

    @Test func `a host with nothing to run makes no connection, nor one without the lease`() async throws {
        let connections = Log()
        func connect() -> PostgresStandIn {
            connections.add("connects")
            return place.db
        }
        #expect(try await place.migrate(place.manager()))
        let manager = try await place.manager("b")
        try await manager.whenMigrating(toVersion: "1.1", in: connect()) { _, _ in }
        #expect(connections.lines.isEmpty)
        try await manager.whenMigrating(toVersion: "1.2", in: connect()) { _, _ in
            let held = try await place.manager("c").status.latestAttempt
            #expect(held?.version == AppVersion("1.2"))
        }
        #expect(connections.lines.count == 1)
    }

    /// How a migration in the database ends, whose connection is made by `connect`.
    private func end(
        _ manager: FleetMigrationManager,
        isOfBatches: Bool,
        _ connect: @escaping @Sendable () async throws -> PostgresStandIn
    ) async -> MigrationError.Code? {
        await code {
            if isOfBatches {
                try await manager.whenMigrating(toVersion: "1.1", in: try await connect()) { _, _, _ in .done
                }
            } else {
                try await manager.whenMigrating(toVersion: "1.1", in: try await connect()) { _, _ in }
            }
        }
    }

    @Test func `a connection that can't be made is noted, as the server says it`() async throws {
        for isOfBatches in [false, true] {
            let manager = try await place.manager()
            let end = await end(manager, isOfBatches: isOfBatches) {
                throw PostgresStandIn.Gone(state: "28P01")
            }
            #expect(end == .migrationFailed)
            let failure = try await manager.status.latestAttempt?.failure
            #expect(failure == "the server says 28P01 (SQLSTATE 28P01).")
        }
    }

    @Test(arguments: [false, true])
    func `a connection that is never made ends after half a lease, which is renewed`(isOfBatches: Bool)
        async throws
    {
        let door = Door()
        let begun = Door()
        let manager = try await place.manager()
        let task = Call {
            await end(manager, isOfBatches: isOfBatches) {
                begun.open()
                await door.pass()
                return place.db
            }
        }
        func pass(_ duration: Duration) async throws {
            // The connection is the call that hangs.
            try await place.clock.pass(
                duration,
                timers: 1,
                until: { task.hasEnded },
                hanging: { begun.isOpen ? 1 : 0 }
            )
        }
        try await pass(.zero)
        let claimed = try await manager.repository.read().revision
        for number in 1...3 {
            #expect(try await (manager.repository.read().revision == claimed) == (number == 1))
            #expect(!task.hasEnded)
            try await pass(.seconds(5))
        }
        #expect(try await task.value == .migrationFailed)
        #expect(try await manager.status.latestAttempt?.failure?.contains("no answer within 15.0") == true)
        // A connection that comes later isn't kept.
        door.open()
        try await waitUntil { place.db.isClosed }
    }

    @Test func `a probe of the process that runs in: is answered meanwhile`() async throws {
        let store = postgresStore(place.path)
        let manager = try await FleetMigrationManager(on: store, clock: place.clock)
        let probe = FleetProbe(named: "Data", currentVersion: "1.4", store: store)
        func isReady() async throws -> Bool {
            try await probe.isMigrated { try await $0.whenMigrating(toVersion: "1.1") {} }
        }
        try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db, _ in
            try await place.insert(db)
            #expect(try await !isReady())
            #expect(try await manager.status.latestAttempt?.version == AppVersion("1.1"))
        }
        #expect(try await isReady())
    }

    @Test(arguments: ["40001", "40P01"])
    func `a closure that met a deadlock is called again, and nothing of it counts`(_ state: String)
        async throws
    {
        let failures = Log()
        place.db.onStatement { sql in
            guard sql == "SELECT 1", failures.lines.count < 2 else { return .works }
            failures.add(sql)
            throw PostgresStandIn.Gone(state: state)
        }
        let manager = try await place.manager()
        let task = Call {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db, _ in
                try await place.insert(db)
                try await db.query("SELECT 1")
            }
        }
        try await place.clock.pass { task.hasEnded }
        #expect(try await task.value)
        #expect(try await place.notes() == 1)
    }

    @Test func `a commit whose answer was lost is found by the next read`() async throws {
        place.db.onStatement { $0 == "COMMIT" ? .worksAndFails : .works }
        let manager = try await place.manager()
        #expect(try await place.migrate(manager))
        #expect(try await place.notes() == 1)
        #expect(manager.lastRunVersion == AppVersion("1.1"))
    }

    @Test func `a commit that nobody can ask about is said to be unknown`() async throws {
        let isGone = Log()
        let store = PostgresFleetStore {
            if !isGone.lines.isEmpty { throw PostgresStandIn.Gone() }
            let db = try PostgresStandIn(place.path)
            db.onStatement { _ in isGone.lines.isEmpty ? .works : .fails }
            return db
        }
        let fleet = Fleet()
        let manager = try await FleetMigrationManager(on: store, clock: fleet.clock)
        place.db.onStatement { sql in
            if sql == "COMMIT" { isGone.add(sql) }
            return sql == "COMMIT" ? .worksAndFails : .works
        }
        let error = await fleet.error { _ = try await place.migrate(manager) }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.description.contains("It is not known whether migration 1.1") == true)
        place.db.onStatement { _ in .works }
        #expect(try await !place.migrate(place.manager("b")))
        #expect(try await place.notes() == 1)
    }

    @Test func `the store's own connection is refused, and nothing of the closure runs`() async throws {
        let store = PostgresFleetStore { place.db }
        let manager = try await FleetMigrationManager(on: store, clock: place.clock)
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { _, _ in
                Issue.record("It ran.")
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.description.contains("a second connection to the same database") == true)
        #expect(try !place.db.isInTransaction)
    }

    /// The lease is renewed as long as the closure may run.
    @Test(arguments: [
        ("BEGIN ISOLATION LEVEL READ COMMITTED", 1), ("SELECT revision", 1), ("UPDATE", 0), ("COMMIT", 0),
    ])
    func `a statement of ours that is never answered ends after half a lease`(
        _ start: String,
        _ renewals: Int
    ) async throws {
        let hung = Log()
        place.db.onStatement { sql in
            guard sql.hasPrefix(start), hung.lines.isEmpty else { return .works }
            hung.add(sql)
            return .hangs
        }
        let manager = try await place.manager()
        let task = Call { await code { _ = try await place.migrate(manager) } }
        func pass(_ duration: Duration) async throws {
            try await place.clock.pass(
                duration,
                timers: renewals,
                until: { task.hasEnded },
                hanging: { place.db.hanging }
            )
        }
        try await pass(.seconds(14))
        #expect(!task.hasEnded)
        try await pass(.seconds(1))
        #expect(try await task.value == .migrationFailed)
        #expect(place.db.isClosed && !place.db.statements.contains("ROLLBACK"))
        #expect(try await place.notes() == 0)
    }

    @Test func `a connection that never closes is left behind after half a lease`() async throws {
        let manager = try await place.manager()
        let closing = Door()
        let never = Door()
        let task = Call {
            let db = NeverClosing(base: place.db, closing: closing, end: never)
            return try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await place.insert(db.base)
            }
        }
        func pass(_ duration: Duration) async throws {
            try await place.clock.pass(
                duration,
                until: { task.hasEnded },
                hanging: { closing.isOpen ? 1 : 0 }
            )
        }
        try await pass(.seconds(14))
        #expect(!task.hasEnded)
        try await pass(.seconds(1))
        #expect(try await task.value)
        never.open()
        #expect(try await place.notes() == 1)
    }

    @Test func `work is rolled back where another host has written the document meanwhile`() async throws {
        let manager = try await place.manager()
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1", in: place.db) { db, _ in
                try await place.insert(db)
                // Another host takes over from this one.
                try await db.query(
                    """
                    UPDATE app_migration_state SET revision = revision + 7,
                        document = replace(document, '"owner" : "a', '"owner" : "b')
                    """
                )
            }
        }
        // The other host's write was in this transaction and is gone with it, so the lease stands and the
        // failure is noted.
        #expect(error?.code == .migrationFailed)
        #expect(try await place.notes() == 0)
    }
}

/// A connection whose end nobody hears of.
private struct NeverClosing: AsyncSQLConnection {
    let base: PostgresStandIn
    let closing: Door
    let end: Door

    static var dialect: SQLDialect { PostgresStandIn.dialect }

    static func serverError(from error: any Error) -> ServerError? {
        PostgresStandIn.serverError(from: error)
    }

    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try await base.query(sql, arguments)
    }

    nonisolated(nonsending) func close() async {
        closing.open()
        await end.pass()
    }
}
