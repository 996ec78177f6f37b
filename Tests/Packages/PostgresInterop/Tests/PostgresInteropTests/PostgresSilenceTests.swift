import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Synchronization
import Testing

/// Connections of a fleet's migrations that go silent, and servers on which a dead host's statement goes on.
@Suite(.timeLimit(.minutes(5))) struct PostgresSilenceTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    /// The forms in which a statement is sent.
    enum Form: CaseIterable, Sendable {
        case file, fileAlone, closureOfFile, batch, transaction

        /// A statement on the counter that this form can send.
        var statement: String {
            self == .fileAlone
                ? "CREATE INDEX CONCURRENTLY IF NOT EXISTS counted ON counter(runs)"
                : "UPDATE counter SET runs = runs + 1"
        }
    }

    /// A host whose store is reached directly, with a lease that outlasts the other tests' work.
    private func manager(
        _ info: String,
        _ log: Log = Log()
    ) async throws(MigrationError) -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: "Data",
            currentVersion: "2.0",
            firstRun: .everything,
            store: PostgresFleetStore { try await AsyncPostgresConnection(info) },
            options: FleetMigrationManager.Options(leaseDuration: .seconds(10)) { event in
                log.add("\(event.kind) \(event.note ?? "")")
            }
        )
    }

    /// Runs a migration that sends one statement, on a connection to `info`.
    private func migrate(
        _ form: Form,
        _ manager: FleetMigrationManager,
        _ info: String,
        sending statement: String,
        lockTimeout: Duration = .seconds(60)
    ) async throws -> Bool {
        func migrate(_ migration: Migration) async throws -> Bool {
            let migrator = try Migrator([migration], lockTimeout: lockTimeout)
            return try await manager.whenMigrating(toVersion: "1.1") {
                let db = try await AsyncPostgresConnection(info)
                do { try await migrator.migrate(db) } catch {
                    await db.close()
                    throw error
                }
                await db.close()
            }
        }
        switch form {
        case .file: return try await migrate(Migration(version: 1, sql: statement))
        case .fileAlone: return try await migrate(Migration(version: 1, sql: statement, inTransaction: false))
        case .closureOfFile:
            return try await migrate(Migration(version: 1) { db, _ in try await db.query(statement) })
        case .batch:
            return try await manager.whenMigrating(
                toVersion: "1.1",
                in: try await AsyncPostgresConnection(info),
                lockTimeout: lockTimeout
            ) { db, _, _ in
                try await db.query(statement)
                return .done
            }
        case .transaction:
            return try await manager.whenMigrating(
                toVersion: "1.1",
                in: try await AsyncPostgresConnection(info)
            ) {
                db,
                _ in
                try await db.query(statement)
            }
        }
    }

    @Test(arguments: Form.allCases, [false, true])
    func `a silent network ends the statement, and its migration runs once afterwards`(
        _ form: Form,
        _ isCancelled: Bool
    ) async throws {
        try await withAwaited { db, info in
            try await makeCounter(on: db)
            let statement = form.statement
            let proxy = try SilentProxy(before: info, silentAt: statement)
            let host = try await manager(info)
            let work = Call { try await migrate(form, host, proxy.info(info), sending: statement) }
            try await wait(on: db) { proxy.count > 0 }
            if isCancelled {
                work.cancel()
            } else if ![.file, .fileAlone].contains(form) {
                // The server would do so after a minute.
                try await db.query(
                    """
                    SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
                    WHERE datname = current_database() AND state = 'idle in transaction'
                    """
                )
            }
            let error = await #expect(throws: MigrationError.self) { try await work.value(on: db) }
            let text = error?.description ?? ""
            if isCancelled {
                #expect(error?.code == .cancelled, "\(text)")
            } else {
                #expect(error?.code == .migrationFailed, "\(text)")
                #expect(error?.isTransient == true, "\(text)")
                #expect(text.contains(/process \d+ of the server at 127\.0\.0\.1:\d+/), "\(text)")
            }
            let next = try await manager(info)
            #expect(try await next.status.latestAttempt?.crashCount == 0)
            proxy.pass()
            #expect(try await migrate(form, next, proxy.info(info), sending: statement))
            if form != .fileAlone { #expect(try await db.query("SELECT runs FROM counter") == [[1]]) }
        }
    }

    @Test(arguments: [Form.file, .closureOfFile, .batch, .transaction])
    func `the statement of a host that died ends in the server`(_ form: Form) async throws {
        try await withAwaited { db, info in
            guard case .text(let version) = try await db.query("SHOW server_version_num")[0][0] else {
                throw CocoaError(.fileReadUnknown)
            }
            if version < "140000" { return }
            // A connection that is closed is what a server sees of a process that was killed.
            let proxy = try SilentProxy(before: info, silentAt: "nothing")
            let host = try await manager(info)
            let work = Call {
                try await migrate(form, host, proxy.info(info), sending: "SELECT pg_sleep(600)::text")
            }
            let sleeping = """
                SELECT pid::text FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'SELECT pg_sleep(600)%'
                AND datname = current_database()
                """
            try await wait(on: db) { try await !db.query(sleeping).isEmpty }
            proxy.end()
            try await wait(on: db) { try await db.query(sleeping).isEmpty }
            await #expect(throws: MigrationError.self) { try await work.value(on: db) }
        }
    }

    /// What a console has locked.
    enum Lock: String, CaseIterable, Sendable {
        case row = "UPDATE counter SET runs = runs"
        case table = "LOCK TABLE counter IN ACCESS EXCLUSIVE MODE"
    }

    @Test(arguments: Form.allCases, Lock.allCases)
    func `an open transaction that a statement waits for is named in an event after some seconds`(
        _ form: Form,
        _ lock: Lock
    ) async throws {
        try await withAwaited { console, info in
            try await makeCounter(on: console)
            let number = try await processNumber(of: console)
            let log = Log()
            let host = try await manager(info, log)
            try await console.query("BEGIN")
            try await console.query(lock.rawValue)
            let statement = form.statement
            let work = Call { try await migrate(form, host, info, sending: statement) }
            let event = "waiting the open transaction of the server's process \(number) for 127.0.0.1"
            try await wait(on: console) { log.lines.contains(event) }
            try await console.query("COMMIT")
            #expect(try await work.value(on: console))
        }
    }

    @Test
    func
        `a transaction that keeps a script from changing a table is named in an event, also between short tries`()
        async throws
    {
        try await withAwaited { console, info in
            try await console.query("CREATE TABLE counter(runs INT)")
            let number = try await processNumber(of: console)
            let log = Log()
            let host = try await manager(info, log)
            try await console.query("BEGIN")
            try await console.query("SELECT runs FROM counter")
            let statement = "ALTER TABLE counter ADD COLUMN name TEXT"
            let work = Call { try await migrate(.file, host, info, sending: statement) }
            let event = "waiting the open transaction of the server's process \(number) for 127.0.0.1"
            try await wait(on: console) { log.lines.contains(event) }
            try await console.query("COMMIT")
            #expect(try await work.value(on: console))
        }
    }

    @Test(arguments: [Form.file, .batch])
    func `the error of a wait in vain names the open transaction`(_ form: Form) async throws {
        try await withAwaited { console, info in
            try await makeCounter(on: console)
            let number = try await processNumber(of: console)
            let host = try await manager(info)
            try await console.query("BEGIN")
            try await console.query("UPDATE counter SET runs = runs")
            let error = await #expect(throws: MigrationError.self) {
                _ = try await migrate(
                    form,
                    host,
                    info,
                    sending: "UPDATE counter SET runs = runs + 1",
                    lockTimeout: .seconds(15)
                )
            }
            let reason =
                "The statement waited for the open transaction of the server's process \(number) for 127.0.0.1."
            #expect(error?.description.contains(reason) == true, "\(error)")
            #expect(error?.isTransient == true)
            try await console.query("COMMIT")
        }
    }
}

private nonisolated(nonsending) func makeCounter(on db: AsyncPostgresConnection) async throws {
    try await db.query("CREATE TABLE counter(runs INT)")
    try await db.query("INSERT INTO counter VALUES (0)")
}

/// The number of the server's process that runs the statements of a connection.
private nonisolated(nonsending) func processNumber(of db: AsyncPostgresConnection) async throws -> String {
    guard case .text(let number) = try await db.query("SELECT pg_backend_pid()::text")[0][0] else {
        throw CocoaError(.fileReadUnknown)
    }
    return number
}

/// Waits until something holds, or until the test's time is over.
private nonisolated(nonsending) func wait(
    on db: AsyncPostgresConnection,
    until condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        try Task.checkCancellation()
        try await db.query("SELECT pg_sleep(0.05)::text")
    }
}

/// A call in a task of its own, which a test leaves behind when its time is over.
private final class Call: Sendable {
    private let result = Mutex<Result<Bool, any Error>?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ body: @escaping @Sendable () async throws -> Bool) {
        let task = Task {
            let ended: Result<Bool, any Error>
            do { ended = .success(try await body()) } catch { ended = .failure(error) }
            result.withLock { $0 = ended }
        }
        self.task.withLock { $0 = task }
    }

    func cancel() { task.withLock { $0 }?.cancel() }

    nonisolated(nonsending) func value(on db: AsyncPostgresConnection) async throws -> Bool {
        try await wait(on: db) { result.withLock { $0 } != nil }
        return try result.withLock { $0 }?.get() ?? false
    }
}

/// Lines of several threads.
private final class Log: Sendable {
    private let entries = Mutex([String]())

    var lines: [String] { entries.withLock(\.self) }

    func add(_ line: String) { entries.withLock { $0.append(line) } }
}
