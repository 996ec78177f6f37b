import AppMigrations
import AppMigrationsSQLite
import Foundation
import GRDB
import Testing

/// The migrator on GRDB's writer, whose statements are awaited.
@Suite struct AwaitedGRDBTests {
    private func queue() throws -> DatabaseQueue {
        var configuration = Configuration()
        // A transaction of the migrator spans several accesses.
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(configuration: configuration)
    }

    private let first = SQLMigration<DatabaseQueue>(
        version: 1,
        sql: """
            CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE album(id INTEGER PRIMARY KEY, artist REFERENCES artist(id) ON DELETE CASCADE);
            CREATE TABLE log(x);
            CREATE TRIGGER t AFTER INSERT ON artist BEGIN INSERT INTO log VALUES ('a;b'); SELECT 1; END;
            INSERT INTO artist VALUES (1, 'Nina'); INSERT INTO album VALUES (10, 1);
            """
    )

    private let rebuild = SQLMigration<DatabaseQueue>(version: 2, sql: MigratorOnGRDBTests.rebuilding)

    @Test func `scripts and closures run once, with foreign keys off`() async throws {
        let queue = try queue()
        let closure = SQLMigration<DatabaseQueue>(version: 3) { db, _ in
            try await db.query("INSERT INTO artist VALUES (?, ?, ?)", [2, "Bessie", nil])
        }
        let migrator = try SQLMigrator([first, rebuild, closure])
        #expect(try await migrator.migrate(queue).applied == [1, 2, 3])
        #expect(try await migrator.migrate(queue).applied == [])
        #expect(try await queue.query("SELECT name FROM artist ORDER BY id") == [["Nina"], ["Bessie"]])
        #expect(try await queue.query("SELECT count(*) FROM album") == [[1]])
        #expect(try await queue.query("SELECT x FROM log") == [["a;b"]])
        #expect(try await queue.query("PRAGMA foreign_keys") == [[1]])
    }

    @Test func `a closure of a runner runs exactly once`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let queue = try queue()
        for host in ["a", "b"] {
            let manager = try MigrationManager(
                currentVersion: "2.0",
                firstRun: .everything,
                stateDirectory: folder.appending(path: host).path(percentEncoded: false)
            )
            let ran = try await manager.whenMigrating(toVersion: "2.0", in: queue) { db, _ in
                try await db.query("CREATE TABLE once(x)")
            }
            #expect(ran == (host == "a"))
        }
    }
}
