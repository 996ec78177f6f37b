import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// A connection of a migration that answers nothing any more, and whose client doesn't notice.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1)), .watchdog) struct SilentConnectionTests {
    /// Where the statement is sent that is never answered.
    enum Form: CaseIterable {
        case file, closureOfFile, batch, transaction
    }

    /// The process of the connection, as the store's server shows it.
    enum Process: Sendable {
        case active, idle, gone
        case blocked(by: Int)
    }

    private final class Server: Sendable {
        let process = Guarded(Process.active)
    }

    private let place: Place
    private let server = Server()
    private let store: PostgresFleetStore<PostgresStandIn>
    private let log = Log()
    private var db: PostgresStandIn { place.db }
    private var clock: ManualClock { place.clock }

    init() async throws {
        place = try await Place()
        let other = try SQLiteConnection(path: place.path)
        try other.query("PRAGMA journal_mode = WAL")
        try other.query("CREATE TABLE schema_migrations (version, name, checksum, applied_at)")
        try other.query("CREATE TABLE app_migrations (manager, version, cursor)")
        store = PostgresFleetStore { [path = place.path, server] in
            let db = try PostgresStandIn(path)
            db.onStatement { sql in
                guard sql.contains("pg_blocking_pids") else { return .works }
                return switch server.process.withLock({ $0 }) {
                case .active: .works
                case .idle: .gives([["idle", .null]])
                case .blocked(let number):
                    .gives([["active", .text("the open transaction of the server's process \(number)")]])
                case .gone: .gives([])
                }
            }
            return db
        }
        answer { _ in .hangs }
    }

    /// Answers statements that SQLite doesn't know; `answer` has the answer to the statement under test.
    private func answer(_ answer: @escaping @Sendable (String) throws -> PostgresStandIn.Answer) {
        let log = log
        db.onStatement { sql in
            if sql.hasPrefix("SELECT 'work'") {
                log.add("sent")
                return try answer(sql)
            }
            return Self.answer(to: sql)
        }
    }

    private static func answer(to sql: String) -> PostgresStandIn.Answer {
        if sql.contains("advisory_xact_lock"), !sql.hasPrefix("DO ") { return .gives([[1]]) }
        guard sql.contains("format_type") else { return .works }
        let isOfFiles = sql.contains("'schema_migrations'")
        let columns =
            isOfFiles ? ["version", "name", "checksum", "applied_at"] : ["manager", "version", "cursor"]
        let name = SQLValue.text(isOfFiles ? "schema_migrations" : "app_migrations")
        return .gives(
            columns.map { column in
                let type: SQLValue = isOfFiles && column == "version" ? "bigint" : "text"
                return [.text(column), type, name, .null]
            }
        )
    }

    private func manager(_ host: String = "a") async throws -> FleetMigrationManager {
        var options = FleetMigrationManager.Options()
        options.onEvent = { [log] in log.add("\($0.kind) \($0.note ?? "")") }
        return try await FleetMigrationManager(host, on: store, options: options, clock: clock)
    }

    /// Runs a migration that sends the statement under test.
    private func migrate(_ form: Form, _ manager: FleetMigrationManager) async throws -> Bool {
        let db = db
        switch form {
        case .file, .closureOfFile:
            let migration: SQLMigration<PostgresStandIn> =
                form == .file
                ? SQLMigration(version: 1, name: "one", sql: "SELECT 'work'")
                : SQLMigration(version: 1) { db, _ in try await db.query("SELECT 'work'") }
            let migrator = try SQLMigrator([migration])
            return try await manager.whenMigrating(toVersion: "1.1") { try await migrator.migrate(db) }
        case .batch:
            return try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _, _ in
                try await db.query("SELECT 'work'")
                return .done
            }
        case .transaction:
            return try await manager.whenMigrating(toVersion: "1.1", in: db) { db, _ in
                try await db.query("SELECT 'work'")
            }
        }
    }

    /// Begins a migration, and waits until its statement was sent.
    private func begin(_ form: Form) async throws -> Call<MigrationError?> {
        let manager = try await manager()
        let call = Call { () -> MigrationError? in
            do { _ = try await migrate(form, manager) } catch { return error as? MigrationError }
            return nil
        }
        try await waitUntil { log.lines.contains("sent") || call.hasEnded }
        return call
    }

    private var revision: FleetRevision? {
        get async throws { try await store.document(named: "Data")?.revision }
    }

    private func show(_ process: Process) { server.process.withLock { $0 = process } }

    @Test(arguments: Form.allCases)
    func `a statement ends once the server has no process for it, and the lease is renewed until then`(
        _ form: Form
    ) async throws {
        let call = try await begin(form)
        let claimed = try await revision
        try await clock.pass(.seconds(59), waiting: 0, timers: 2) { call.hasEnded }
        #expect(!call.hasEnded)
        #expect(try await revision != claimed)
        show(.gone)
        // The watch begins up to five seconds late, if the timer of an earlier statement has ended late.
        try await clock.pass(.seconds(6), waiting: 0, timers: 2) { call.hasEnded }
        let error = try await call.value
        #expect(error?.code == .migrationFailed)
        #expect(error?.isTransient == true)
        let text = error?.description ?? ""
        let process = "process 7 of the server at 127.0.0.1:5432"
        let reason =
            form == .file
            ? "The connection went silent: its statements ran in \(process), which has ended."
            : "The closure's statements ran in \(process), which has ended: the server or the network failed, or the"
                + " closure sent no statement for longer than a transaction may wait for one."
        #expect(text.contains(reason), "\(text)")
        #expect(!text.contains("leaseDuration"), "\(text)")
        if form == .file { #expect(text.contains("Statement: SELECT 'work';"), "\(text)") }
        // Nothing more is sent to it.
        #expect(db.statements.last?.hasPrefix("SELECT 'work'") == true)
        await db.close()
    }

    @Test func `a statement whose answer was lost ends once its process runs nothing`() async throws {
        show(.idle)
        let call = try await begin(.file)
        try await clock.pass(.seconds(29), waiting: 0, timers: 2) { call.hasEnded }
        #expect(!call.hasEnded)
        try await clock.pass(.seconds(6), waiting: 0, timers: 2) { call.hasEnded }
        let error = try await call.value
        let reason = "process 7 of the server at 127.0.0.1:5432 does not run the statement"
        #expect(error?.description.contains(reason) == true, "\(error)")
        #expect(error?.isTransient == true)
        await db.close()
    }

    /// The closure may be doing something else.
    @Test(arguments: Form.allCases.dropFirst())
    func `a closure goes on while its process runs nothing`(_ form: Form) async throws {
        show(.idle)
        let call = try await begin(form)
        try await clock.pass(.seconds(100), waiting: 0, timers: 2) { call.hasEnded }
        #expect(!call.hasEnded)
        await db.close()
        #expect(try await call.value?.code == .migrationFailed)
    }

    @Test(arguments: Form.allCases)
    func `a cancelled task leaves the statement behind after half a lease, and that is no death`(
        _ form: Form
    ) async throws {
        let call = try await begin(form)
        call.cancel()
        let cancelled = try await revision
        try await clock.pass(.seconds(14), waiting: 0, timers: 3) { call.hasEnded }
        #expect(!call.hasEnded)
        #expect(try await revision == cancelled)
        try await clock.pass(.seconds(1), waiting: 0, timers: 3) { call.hasEnded }
        let error = try await call.value
        #expect(error?.code == .cancelled)
        let reason = "The task was cancelled, and the statement had no answer within 15.0 seconds"
        // A cancelled batch ends with the error of the task alone.
        #expect(error?.description.contains(reason) == (form != .batch), "\(error)")
        await db.close()
        // The next host doesn't wait for the lease.
        db.open()
        answer { _ in .gives([[1]]) }
        let next = try await manager("b")
        #expect(try await next.status.latestAttempt?.crashCount == 0)
        #expect(try await next.status.latestAttempt?.isUnderWay == false)
        let retry = Call { try await migrate(form, next) }
        try await clock.pass(.seconds(1)) { retry.hasEnded }
        #expect(try await retry.value)
    }

    @Test func `a transaction is rolled back in a cancelled task, whose store takes no calls`() async throws {
        let call = Guarded<Call<MigrationError?>?>(nil)
        db.onStatement { sql in
            if sql.hasPrefix("SELECT pg_backend_pid()") { call.withLock { $0 }?.cancel() }
            return Self.answer(to: sql)
        }
        let manager = try await manager()
        let began = Door()
        let work = Call { () -> MigrationError? in
            await began.pass()
            do { _ = try await migrate(.file, manager) } catch { return error as? MigrationError }
            return nil
        }
        call.withLock { $0 = work }
        began.open()
        #expect(try await work.value?.code == .cancelled)
        #expect(db.statements.last == "ROLLBACK")
    }

    /// Its client ignores the cancellation, and that the connection is closed.
    @Test func `a closure that never ends after a cancellation loses its lease to another host`() async throws
    {
        let end = Door()
        let manager = try await manager()
        let call = Call {
            await code {
                try await manager.whenMigrating(toVersion: "1.1", in: db) { _, _ in
                    log.add("sent")
                    await end.pass()
                    throw TestStore.Failure()
                }
            }
        }
        try await waitUntil { log.lines.contains("sent") || call.hasEnded }
        call.cancel()
        let next = try await self.manager("b")
        let retry = Call { try await next.whenMigrating(toVersion: "1.1") {} }
        try await clock.pass(.seconds(40), timers: 2) { retry.hasEnded }
        #expect(try await retry.value)
        end.open()
        #expect(try await call.value == .leaseLost)
    }

    @Test func `a closure without a connection keeps its lease until it ends, also after a cancellation`()
        async throws
    {
        let end = Door()
        let manager = try await manager()
        let call = Call {
            await code {
                try await manager.whenMigrating(toVersion: "1.1") {
                    log.add("sent")
                    await end.pass()
                    try Task.checkCancellation()
                }
            }
        }
        try await waitUntil { log.lines.contains("sent") || call.hasEnded }
        call.cancel()
        let cancelled = try await revision
        try await clock.pass(.seconds(40), waiting: 0, timers: 1) { call.hasEnded }
        #expect(try await revision != cancelled)
        end.open()
        #expect(try await call.value == .cancelled)
        #expect(try await self.manager("b").status.latestAttempt?.crashCount == 0)
    }

    @Test func `a statement outside of a transaction ends after half a lease`() async throws {
        let log = log
        db.onStatement { sql in
            log.add("sent")
            return .hangs
        }
        let call = try await begin(.file)
        try await clock.pass(.seconds(14), waiting: 0, timers: 2) { call.hasEnded }
        #expect(!call.hasEnded)
        try await clock.pass(.seconds(1), waiting: 0, timers: 2) { call.hasEnded }
        let error = try await call.value
        #expect(error?.description.contains("There was no answer within 15.0 seconds") == true, "\(error)")
        #expect(error?.isTransient == true)
        await db.close()
    }

    @Test(arguments: Form.allCases)
    func `the transaction that a statement waits for is named after some seconds, also in the error`(
        _ form: Form
    ) async throws {
        show(.blocked(by: 9))
        let call = try await begin(form)
        let blocker = "the open transaction of the server's process 9"
        try await clock.pass(.seconds(4), waiting: 0, timers: 2) { call.hasEnded }
        #expect(!log.lines.contains("waiting \(blocker)"))
        try await clock.pass(.seconds(1), waiting: 0, timers: 2) { log.lines.contains("waiting \(blocker)") }
        #expect(log.lines.contains("waiting \(blocker)"))
        db.fail(PostgresStandIn.Gone(state: "55P03"))
        let error = try await call.value
        #expect(error?.description.contains("The statement waited for \(blocker).") == true, "\(error)")
    }

    /// The server is asked about the whole closure, whose statements may begin to wait at any time.
    @Test(arguments: Form.allCases)
    func `a wait that begins late is named some seconds later, and then once in each lease`(
        _ form: Form
    ) async throws {
        let call = try await begin(form)
        let event = "waiting the open transaction of the server's process 9"
        var events: Int { log.lines.count { $0 == event } }
        try await clock.pass(.seconds(6), waiting: 0, timers: 2) { call.hasEnded }
        show(.blocked(by: 9))
        try await clock.pass(.seconds(5), waiting: 0, timers: 2) { events > 0 || call.hasEnded }
        #expect(events == 1)
        try await clock.pass(.seconds(18), waiting: 0, timers: 2) { call.hasEnded }
        #expect(events == 1)
        try await clock.pass(.seconds(30), waiting: 0, timers: 2) { call.hasEnded }
        #expect(events == 2)
        await db.close()
        _ = try await call.value
    }

    @Test(arguments: Form.allCases)
    func `a second transaction that a statement waits for is named, too`(_ form: Form) async throws {
        let call = try await begin(form)
        let event = "waiting the open transaction of the server's process"
        show(.blocked(by: 9))
        try await clock.pass(.seconds(11), waiting: 0, timers: 2) { log.lines.contains("\(event) 9") }
        show(.blocked(by: 10))
        try await clock.pass(.seconds(11), waiting: 0, timers: 2) { log.lines.contains("\(event) 10") }
        #expect(log.lines.filter { $0.hasPrefix(event) } == ["\(event) 9", "\(event) 10"])
        await db.close()
        _ = try await call.value
    }
}
