import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Synchronization
import Testing

/// Connections of a fleet's migrations that go silent, and servers on which a dead host's statement goes on.
@Suite(.timeLimit(.minutes(2))) struct PostgresSilenceTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    /// The forms in which a statement is sent.
    enum Form: CaseIterable, Sendable {
        case file, fileAlone, closureOfFile, batch, transaction
    }

    /// A host whose store is reached directly.
    private func manager(
        _ info: String,
        _ log: Log = Log()
    ) async throws(MigrationError) -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: "Data",
            currentVersion: "2.0",
            firstRun: .everything,
            store: PostgresFleetStore { try await AsyncPostgresConnection(info) },
            options: FleetMigrationManager.Options(leaseDuration: .seconds(2)) { event in
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
            try await db.query("CREATE TABLE counter(runs INT)")
            try await db.query("INSERT INTO counter VALUES (0)")
            let statement =
                form == .fileAlone
                ? "CREATE INDEX CONCURRENTLY IF NOT EXISTS counted ON counter(runs)"
                : "UPDATE counter SET runs = runs + 1"
            let proxy = try SilentProxy(before: info, silentAt: statement)
            let host = try await manager(info)
            let work = Task { try await migrate(form, host, proxy.info(info), sending: statement) }
            while proxy.count == 0 { try await db.query("SELECT pg_sleep(0.05)::text") }
            if isCancelled { work.cancel() }
            let error = await #expect(throws: MigrationError.self) { try await work.value }
            let text = error?.description ?? ""
            if isCancelled {
                #expect(error?.code == .cancelled, "\(text)")
            } else {
                #expect(error?.code == .migrationFailed, "\(text)")
                #expect(error?.isTransient == true, "\(text)")
                #expect(text.contains(/process \d+ of the server at 127\.0\.0\.1:\d+/), "\(text)")
            }
            let next = try await manager(info)
            #expect(try await next.status.interruption?.deaths == 0)
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
            let work = Task {
                try await migrate(form, host, proxy.info(info), sending: "SELECT pg_sleep(600)::text")
            }
            let sleeping = """
                SELECT pid::text FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'SELECT pg_sleep(600)%'
                AND datname = current_database()
                """
            while try await db.query(sleeping).isEmpty {}
            proxy.end()
            while try await !db.query(sleeping).isEmpty { try await db.query("SELECT pg_sleep(0.1)::text") }
            await #expect(throws: MigrationError.self) { try await work.value }
        }
    }

    /// What a console has locked.
    enum Lock: String, CaseIterable, Sendable {
        case row = "UPDATE counter SET runs = runs"
        case table = "LOCK TABLE counter IN ACCESS EXCLUSIVE MODE"
    }

    @Test(arguments: Form.allCases, Lock.allCases)
    func `an open transaction that a statement waits for is named in an event after a lease`(
        _ form: Form,
        _ lock: Lock
    ) async throws {
        try await withAwaited { console, info in
            try await console.query("CREATE TABLE counter(runs INT)")
            try await console.query("INSERT INTO counter VALUES (0)")
            guard case .text(let number) = try await console.query("SELECT pg_backend_pid()::text")[0][0]
            else { throw CocoaError(.fileReadUnknown) }
            let log = Log()
            let host = try await manager(info, log)
            try await console.query("BEGIN")
            try await console.query(lock.rawValue)
            let statement =
                form == .fileAlone
                ? "CREATE INDEX CONCURRENTLY IF NOT EXISTS counted ON counter(runs)"
                : "UPDATE counter SET runs = runs + 1"
            let work = Task { try await migrate(form, host, info, sending: statement) }
            let event = "waiting the open transaction of the server's process \(number) for 127.0.0.1"
            while !log.lines.contains(event) { try await console.query("SELECT pg_sleep(0.05)::text") }
            try await console.query("COMMIT")
            #expect(try await work.value)
        }
    }

    @Test
    func
        `a transaction that keeps a script from changing a table is named in an event, also between short tries`()
        async throws
    {
        try await withAwaited { console, info in
            try await console.query("CREATE TABLE counter(runs INT)")
            guard case .text(let number) = try await console.query("SELECT pg_backend_pid()::text")[0][0]
            else { throw CocoaError(.fileReadUnknown) }
            let log = Log()
            let host = try await manager(info, log)
            try await console.query("BEGIN")
            try await console.query("SELECT runs FROM counter")
            let statement = "ALTER TABLE counter ADD COLUMN name TEXT"
            let work = Task { try await migrate(.file, host, info, sending: statement) }
            let event = "waiting the open transaction of the server's process \(number) for 127.0.0.1"
            while !log.lines.contains(event) { try await console.query("SELECT pg_sleep(0.05)::text") }
            try await console.query("COMMIT")
            #expect(try await work.value)
        }
    }

    @Test(arguments: [Form.file, .batch])
    func `the error of a wait in vain names the open transaction`(_ form: Form) async throws {
        try await withAwaited { console, info in
            try await console.query("CREATE TABLE counter(runs INT)")
            try await console.query("INSERT INTO counter VALUES (0)")
            guard case .text(let number) = try await console.query("SELECT pg_backend_pid()::text")[0][0]
            else { throw CocoaError(.fileReadUnknown) }
            let host = try await manager(info)
            try await console.query("BEGIN")
            try await console.query("UPDATE counter SET runs = runs")
            let error = await #expect(throws: MigrationError.self) {
                _ = try await migrate(
                    form,
                    host,
                    info,
                    sending: "UPDATE counter SET runs = runs + 1",
                    lockTimeout: .seconds(6)
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

/// Lines of several threads.
private final class Log: Sendable {
    private let entries = Mutex([String]())

    var lines: [String] { entries.withLock(\.self) }

    func add(_ line: String) { entries.withLock { $0.append(line) } }
}
