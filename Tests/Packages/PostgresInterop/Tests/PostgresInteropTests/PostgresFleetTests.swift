import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import PostgresConnection
import Testing

/// The table of a fleet's store where other tables and schemas are in its way.
@Suite struct PostgresFleetTests {
    /// A host whose store's connections begin with `setting`.
    private func manager(
        _ info: String,
        at release: String = "2.0",
        table: String = "app_migration_state",
        setting: String = "SELECT 1",
        lease: Duration = .seconds(30),
        timeout: Duration? = nil
    ) async throws(MigrationError) -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: "Data",
            currentVersion: release,
            firstRun: .everything,
            store: PostgresFleetStore(table: table) {
                let db = try await AsyncPostgresConnection(info)
                try await db.query(setting)
                return db
            },
            options: FleetMigrationManager.Options(
                leaseDuration: lease,
                lockTimeout: timeout,
                attemptLimit: 1
            )
        )
    }

    @Test func `hosts that start at once on a database without the table all start, and one runs`()
        async throws
    {
        try await withDatabase { info in
            for round in 1...100 {
                let count = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 1...3 {
                        group.addTask {
                            let host = try await manager(info, table: "state_\(round)")
                            return try await host.whenMigrating(toVersion: "1.1") {} ? 1 : 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                try #require(count == 1)
            }
        }
    }

    @Test func `hosts whose search_path differs make one table at their first start`() async throws {
        try await withAwaited { db, info in
            try await db.query("CREATE SCHEMA app")
            for round in 1...40 {
                let paths = ["app, public", "public"]
                let count = await withTaskGroup(of: Int.self) { group in
                    for path in paths + paths {
                        group.addTask {
                            do {
                                let host = try await manager(
                                    info,
                                    table: "state_\(round)",
                                    setting: "SET search_path = \(path)"
                                )
                                return try await host.whenMigrating(toVersion: "1.1") {} ? 1 : 0
                            } catch { return 0 }
                        }
                    }
                    return await group.reduce(0, +)
                }
                try #require(count == 1)
            }
            #expect(
                try await db.query(
                    "SELECT count(*) FROM pg_class WHERE relname LIKE 'state@_%' ESCAPE '@' AND relkind = 'r'"
                ) == [[40]]
            )
        }
    }

    @Test func `a database without a state is not the store's`() async throws {
        try await withDatabase { info in
            try await withDatabase { other in
                let error = await #expect(throws: MigrationError.self) {
                    try await manager(info).whenMigrating(
                        toVersion: "1.1",
                        in: try await AsyncPostgresConnection(other)
                    ) { _, _ in Issue.record("It ran.") }
                }
                #expect(
                    error?.description.contains("a second connection to the same database") == true,
                    "\(error)"
                )
            }
        }
    }

    @Test func `a closure that waits for a table for longer than its lock timeout fails, which may pass`()
        async throws
    {
        try await withDatabase { info in
            let reader = try PostgresConnection(info)
            try reader.query("CREATE TABLE notes(title TEXT)")
            try reader.query("BEGIN")
            try reader.query("SELECT * FROM notes")
            let migrations = try await manager(info)
            let error = await #expect(throws: MigrationError.self) {
                try await migrations.whenMigrating(
                    toVersion: "1.1",
                    in: try await AsyncPostgresConnection(info),
                    lockTimeout: .milliseconds(100)
                ) { db, _ in try await db.query("ALTER TABLE notes ADD COLUMN color TEXT") }
            }
            #expect((error?.underlyingError as? SQLError)?.sqlState == "55P03")
            #expect(error?.isTransient == true)
        }
    }

    @Test(arguments: ["", " AS SELECT * FROM app_migration_state"])
    func `a temporary table of the store's name doesn't take the record`(_ rows: String) async throws {
        try await withDatabase { info in
            let columns = rows.isEmpty ? "(name TEXT PRIMARY KEY, revision BIGINT, document TEXT)" : rows
            let error = await #expect(throws: MigrationError.self) {
                try await manager(info).whenMigrating(
                    toVersion: "1.1",
                    in: try await AsyncPostgresConnection(info)
                ) { db, _ in
                    try await db.query("CREATE TEMP TABLE app_migration_state \(columns)")
                    try await db.query("CREATE TABLE notes (title TEXT)")
                }
            }
            #expect(error?.code == .migrationFailed)
            #expect(
                error?.description.contains(#"has no permanent table "app_migration_state""#)
                    == true,
                "\(error?.description ?? "")"
            )
            // The work went with its record.
            let fresh = try await AsyncPostgresConnection(info)
            #expect(try await fresh.query("SELECT to_regclass('notes')::text") == [[.null]])
            let status = try await manager(info).status
            #expect(status.lastRunVersion == AppVersion("0"))
            #expect(status.latestAttempt?.crashCount == 0)
        }
    }

    @Test func `a temporary table with the schema's name in the store is none of its business`() async throws
    {
        try await withDatabase { info in
            let table = "public.app_migration_state"
            try await manager(info, table: table).whenMigrating(
                toVersion: "1.1",
                in: try await AsyncPostgresConnection(info)
            ) { db, _ in
                try await db.query(
                    "CREATE TEMP TABLE app_migration_state AS SELECT * FROM app_migration_state"
                )
            }
            #expect(try await manager(info).lastRunVersion == AppVersion("1.1"))
        }
    }

    @Test(arguments: [true, false])
    func `a temporary table that was there before is no first run`(isAlone: Bool) async throws {
        try await withDatabase { info in
            if !isAlone { try await manager(info).whenMigrating(toVersion: "1.1") {} }
            let table =
                "CREATE TEMP TABLE app_migration_state (name TEXT PRIMARY KEY, revision BIGINT, document TEXT)"
            let error = await #expect(throws: MigrationError.self) {
                _ = try await manager(info, setting: table)
            }
            #expect(error?.code == .stateUnreadable)
        }
    }

    @Test func `while a closure is in the transaction the server looks for its host`() async throws {
        try await withDatabase { info in
            try await manager(info).whenMigrating(
                toVersion: "1.1",
                in: try await AsyncPostgresConnection(info)
            ) { db, _ async throws in
                #expect(try await keepalives(of: db) == [["10"], ["5"], ["3"]])
            }
        }
    }

    @Test func `a search_path that hides the table is no first run`() async throws {
        try await withAwaited { db, info in
            try await manager(info).whenMigrating(toVersion: "1.1") {}
            try await db.query("CREATE SCHEMA elsewhere")
            let elsewhere = "SET search_path TO elsewhere"
            let error = await #expect(throws: MigrationError.self) {
                _ = try await manager(info, setting: elsewhere)
            }
            #expect(error?.code == .stateUnreadable)
            #expect(
                error?.description.contains(
                    """
                    The connection's search_path has no permanent table "app_migration_state", but the schema public has \
                    one. Nothing was written. Pass the table's name with its schema (table:), even if you want a new table.
                    """
                ) == true,
                "\(error?.description ?? "")"
            )
            #expect(
                try await manager(info, table: "public.app_migration_state", setting: elsewhere)
                    .lastRunVersion == AppVersion("1.1")
            )
            #expect(
                try await manager(info, table: "elsewhere.app_migration_state", setting: elsewhere)
                    .lastRunVersion
                    == AppVersion("0")
            )
        }
    }

    @Test(arguments: [false, true])
    func `a connection that answers nothing holds no host up`(isOfBatches: Bool) async throws {
        try await withDatabase { info in
            let manager = try await manager(info)
            let error = await #expect(throws: MigrationError.self) {
                if isOfBatches {
                    try await manager.whenMigrating(
                        toVersion: "1.1",
                        in: try await AsyncPostgresConnection(info)
                    ) { db, _, _ in
                        await db.close()
                        try await db.query("SELECT 1")
                        return .done
                    }
                } else {
                    try await manager.whenMigrating(
                        toVersion: "1.1",
                        in: try await AsyncPostgresConnection(info)
                    ) { db, _ in
                        await db.close()
                        try await db.query("SELECT 1")
                    }
                }
            }
            #expect(error?.code == .migrationFailed)
        }
    }

    @Test(arguments: [
        "ROLE pg_monitor", "search_path = pg_temp", "statement_timeout = 0", "row_security = off",
        "application_name = 'x'", "TIME ZONE 'Asia/Tokyo'", "idle_in_transaction_session_timeout = '1h'",
    ])
    func `nothing that a closure sets goes on behind its transaction`(_ setting: String) async throws {
        try await withAwaited { db, info in
            let settings = "SELECT name, setting FROM pg_settings UNION SELECT 'role', current_user"
            let before = try await db.query(settings)
            try await manager(info).whenMigrating(toVersion: "1.1", in: LentConnection(base: db)) { db, _ in
                try await db.query("SET \(setting)")
            }
            #expect(try await Set(db.query(settings)).symmetricDifference(before) == [])
            #expect(try await manager(info).lastRunVersion == AppVersion("1.1"))
        }
    }

    @Test func `a row that a console has locked is told with its process`() async throws {
        try await withAwaited { console, info in
            guard case .text(let number) = try await console.query("SELECT pg_backend_pid()::text")[0][0]
            else { throw CocoaError(.fileReadUnknown) }
            let waiting = try await manager(info, timeout: .seconds(10))
            let working = try await manager(info, lease: .seconds(12))
            func lock(_ lock: String) async throws {
                try await console.query("BEGIN")
                try await console.query("SELECT 1 FROM app_migration_state FOR \(lock)")
            }
            try await lock("UPDATE")
            let ended = await #expect(throws: MigrationError.self) {
                try await waiting.whenMigrating(toVersion: "1.1") {}
            }
            let process = "the open transaction of the server's process \(number)"
            #expect(ended?.code == .lockTimeout)
            #expect(ended?.description.contains("for \(process).") == true, "\(ended)")
            try await console.query("COMMIT")
            let db = try await AsyncPostgresConnection(info)
            let failed = await #expect(throws: MigrationError.self) {
                try await working.whenMigrating(toVersion: "1.1", in: db) { _, _ in try await lock("SHARE") }
            }
            #expect(failed?.description.contains("lock timeout") == true, "\(failed)")
            #expect(failed?.description.contains(process) == true, "\(failed)")
        }
    }

    /// The statements of the guides and of the manager's page that begin with a text, in their order.
    private static func statements(beginningWith text: String) throws -> [String] {
        var root = URL(filePath: #filePath)
        for _ in 1...6 { root.deleteLastPathComponent() }
        root.append(path: "Sources/AppMigrationsFleet/AppMigrationsFleet.docc")
        let pages = ["OperatingAFleet.md", "SeveralHosts.md", "Symbols/FleetMigrationManager.md"].map {
            root.appending(path: $0)
        }
        let pageText = try pages.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        return pageText.split(separator: "```").filter { $0.hasPrefix("sql\n\(text)") }.map {
            // The managers of these tests have another name.
            String($0.dropFirst(3)).replacing("= 'Notes'", with: "= 'Data'")
        }
    }

    /// The statement that undoes a release, and what is in it as it stands.
    private static func undo(toData data: String, release: String, from newer: String) throws -> String {
        let statement = try #require(statements(beginningWith: "UPDATE").first)
        return statement.replacing("DATA", with: data).replacing("OLD", with: release)
            .replacing("NEW", with: newer)
    }

    @Test func `a role that may create nothing migrates in the tables that the guide makes`() async throws {
        try await withDatabase { info in
            let owner = try PostgresConnection(info)
            let tables = try Self.statements(beginningWith: "CREATE TABLE")
            try #require(tables.count == 1)
            let role = "service_\(UUID().uuidString.lowercased().prefix(8))"
            let script = """
                REVOKE CREATE ON SCHEMA public FROM PUBLIC;
                \(tables[0]);
                CREATE TABLE notes(title TEXT);
                CREATE ROLE \(role);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \(role);
                """
            try owner.execute(script: script)
            let connect = {
                let db = try await AsyncPostgresConnection(info)
                try await db.query("SET ROLE \(role)")
                return db
            }
            let denied = await #expect(throws: (any Error).self) {
                try await connect().query("CREATE TABLE other(x INT)")
            }
            #expect(denied != nil)
            let migrations = try await manager(info, setting: "SET ROLE \(role)")
            let migrator = try SQLMigrator<AsyncPostgresConnection>([
                SQLMigration(version: 1, sql: "INSERT INTO notes VALUES ('file')")
            ])
            try await migrations.whenMigrating(toVersion: "1.1") { try await migrator.migrate(connect()) }
            try await migrations.whenMigrating(toVersion: "1.2", in: try await connect()) { db, _ in
                try await db.query("INSERT INTO notes VALUES ('in')")
            }
            try await migrations.whenMigrating(toVersion: "1.3", in: try await connect()) { db, batch, _ in
                try await db.query("INSERT INTO notes VALUES ('batch')")
                return batch.cursor == nil ? .continue(at: "1") : .done
            }
            #expect(try owner.query("SELECT title FROM notes") == [["file"], ["in"], ["batch"], ["batch"]])
            try owner.execute(script: "DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    @Test func `the guide's statements set the mark, and forget deaths, without a deploy`() async throws {
        struct Failure: Error {}
        try await withAwaited { db, info in
            let statements = try Self.statements(beginningWith: "UPDATE")
            try #require(statements.count == 2)
            try await manager(info, at: "1.2").whenMigrating(toVersion: "1.1") {}
            await #expect(throws: MigrationError.self) {
                try await manager(info).whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {
                    throw Failure()
                }
            }
            #expect(try await manager(info, at: "1.1").requiredAppVersion != nil)
            // As it stands, or with another release, it changes nothing.
            let missing = try Self.undo(toData: "DATA", release: "1.2", from: "2.0")
            let other = try Self.undo(toData: "1.1", release: "1.2", from: "1.9")
            for reset in [statements[0], missing, other] {
                try await db.query(reset)
                #expect(try await manager(info, at: "1.1").requiredAppVersion != nil)
            }
            let reset = try Self.undo(toData: "1.1", release: "1.2", from: "2.0")
            let whole = reset.firstRange(of: "document::jsonb ||")
            let lower = "document::jsonb - 'minimumAppVersion' ||"
            try await db.query(reset.replacingCharacters(in: try #require(whole), with: lower))
            #expect(try await manager(info, at: "1.1").requiredAppVersion == nil)
            #expect(try await manager(info, at: "1.2").whenMigrating(toVersion: "1.2") {})
            await #expect(throws: MigrationError.self) {
                try await manager(info).whenMigrating(toVersion: "1.3") {
                    try await $0.saveCheckpoint("7")
                    throw Failure()
                }
            }
            let lease = #"{"lease": {"fence": 2, "owner": "host 7", "beat": 3, "length": 0.05}}"#
            let attempt = #"jsonb_set(document::jsonb, '{latestAttempt,failure}', 'null')"#
            let died = "\(attempt) || '\(lease)'"
            try await db.query(
                "UPDATE app_migration_state SET revision = revision + 1, document = (\(died))::text"
            )
            let ended = await #expect(throws: MigrationError.self) {
                try await manager(info).whenMigrating(toVersion: "1.3") {}
            }
            #expect(ended?.code == .attemptLimitReached)
            try await db.query(statements[1])
            try await manager(info).whenMigrating(toVersion: "1.3") { #expect($0.checkpoint == "7") }
        }
    }

    @Test func `after the guide's reset closures run again, and batches that ended only without their rows`()
        async throws
    {
        try await withAwaited { db, info in
            let reset = try Self.undo(toData: "1.1", release: "1.2", from: "1.3")
            let deletions = try Self.statements(beginningWith: "DELETE")
            try #require(deletions.count == 1)
            func connect() async throws -> AsyncPostgresConnection { try await AsyncPostgresConnection(info) }
            /// What a deploy of 1.3 runs.
            func deploy() async throws -> [String] {
                var ran = [String]()
                let migrations = try await manager(info, at: "1.3")
                try await migrations.whenMigrating(toVersion: "1.1") { ran.append("1.1") }
                try await migrations.whenMigrating(toVersion: "1.2", in: try await connect()) { _, _ in
                    ran.append("1.2")
                }
                try await migrations.whenMigrating(toVersion: "1.3", in: try await connect()) { _, batch, _ in
                    ran.append("1.3 at \(batch.cursor ?? "-")")
                    return batch.cursor == nil ? .continue(at: "1") : .done
                }
                return ran
            }
            #expect(try await deploy() == ["1.1", "1.2", "1.3 at -", "1.3 at 1"])
            try await db.query(reset)
            #expect(try await deploy() == ["1.2"])
            #expect(try await deploy() == [])
            try await db.query(reset)
            try await db.query(deletions[0])
            #expect(try await deploy() == ["1.2", "1.3 at -", "1.3 at 1"])
            // With the version that a newer release has finished, nothing runs again after its next deploy.
            let finished = try Self.undo(toData: "1.3", release: "1.2", from: "1.3")
            try await db.query(finished)
            let old = try await manager(info, at: "1.2")
            #expect(try await !old.whenMigrating(toVersion: "1.2") {})
            #expect(try await deploy() == [])
        }
    }

    @Test func `the guide's trigger converts the rows that an old release writes`() async throws {
        try await withAwaited { db, _ in
            let triggers = try Self.statements(beginningWith: "ALTER TABLE notes ADD COLUMN slug")
            try #require(triggers.count == 1)
            try await db.query("CREATE TABLE notes(title TEXT)")
            try await SQLMigrator([SQLMigration(version: 1, sql: triggers[0])]).migrate(db)
            try await db.query("INSERT INTO notes VALUES ('Old Release')")
            #expect(try await db.query("SELECT slug FROM notes") == [["old-release"]])
            try await db.query("UPDATE notes SET title = 'New Title'")
            #expect(try await db.query("SELECT slug FROM notes") == [["new-title"]])
        }
    }
}

/// A connection that a pool lends, and doesn't close.
private struct LentConnection: AsyncSQLConnection, Sendable {
    static var dialect: SQLDialect { AsyncPostgresConnection.dialect }
    let base: AsyncPostgresConnection

    @discardableResult
    nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws -> [[SQLValue]] {
        try await base.query(sql, arguments)
    }
}
