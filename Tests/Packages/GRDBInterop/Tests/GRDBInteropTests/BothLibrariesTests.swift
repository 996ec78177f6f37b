import AppMigrations
import AppMigrationsSQLite
import Foundation
import GRDB
import Testing

/// GRDB has the name `SQLiteConnection`, too, for the pointer of SQLite's C interface.
private typealias Connection = AppMigrationsSQLite.SQLiteConnection

@Suite struct BothLibrariesTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try body(folder.path(percentEncoded: false))
        try FileManager.default.removeItem(at: folder)
    }

    private var grdb: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one") { try $0.execute(sql: "CREATE TABLE grdb(x)") }
        return migrator
    }

    @Test func `the runner calls GRDB's own migrator as its closure, once`() throws {
        try withFolder { folder in
            var runs = 0
            for _ in 0..<2 {
                let migrations = try MigrationManager(
                    named: "Library",
                    currentVersion: "2.0",
                    firstRun: .everything,
                    stateDirectory: folder
                )
                try migrations.whenMigrating(toVersion: "2.0") {
                    runs += 1
                    try grdb.migrate(DatabaseQueue(path: folder + "/db"))
                }
            }
            #expect(runs == 1)
            #expect(try DatabaseQueue(path: folder + "/db").read { try $0.tableExists("grdb") })
        }
    }

    @Test func `a closure runs exactly once in GRDB's database, whatever the state says`() throws {
        try withFolder { folder in
            let queue = try DatabaseQueue(path: folder + "/db")
            let migrations = {
                try MigrationManager(
                    named: "Library",
                    currentVersion: "2.0",
                    firstRun: .everything,
                    stateDirectory: folder
                )
            }
            let runs = try (0..<2).map { _ in
                let manager = try migrations()
                return try queue.writeWithoutTransaction { db in
                    let ran = try manager.whenMigrating(toVersion: "2.0", in: db) { db, _ in
                        try db.execute(sql: "CREATE TABLE once(x)")
                    }
                    try manager.reset(to: "1.0")
                    return ran
                }
            }
            #expect(runs == [true, false])
            // The transaction of `write` is GRDB's to commit, so it is no place for a record outside of it.
            let manager = try migrations()
            let error = #expect(throws: MigrationError.self) {
                try queue.write { db in
                    try manager.whenMigrating(toVersion: "2.0", in: db) { _, _ in Issue.record("ran") }
                }
            }
            #expect((error?.underlyingError as? SQLError)?.code == .alreadyInTransaction)
        }
    }

    @Test func `both libraries migrate one file, each with its own ledger`() throws {
        try withFolder { folder in
            let pool = try DatabasePool(path: folder + "/db")
            let ours = try SQLMigrator<Connection>(SQLMigration.numbered(["CREATE TABLE ours(x)"]))
            for _ in 0..<2 {
                try grdb.migrate(pool)
                try ours.migrate(Connection(path: folder + "/db"))
            }
            let tables = try pool.read {
                try String.fetchAll(
                    $0,
                    sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                )
            }
            #expect(tables == ["grdb", "grdb_migrations", "ours", "schema_migrations"])
        }
    }

    @Test func `the two wait for each other on one file`() throws {
        try withFolder { folder in
            var configuration = Configuration()
            configuration.busyMode = .timeout(60)
            let queues = try (0..<8).map { _ in
                try DatabaseQueue(path: folder + "/db", configuration: configuration)
            }
            let scripts = ["CREATE TABLE log(x)"] + (1...10).map { "INSERT INTO log VALUES (\($0))" }
            let onGRDB = try SQLMigrator<Database>(SQLMigration.numbered(scripts))
            let onOurs = try SQLMigrator<Connection>(SQLMigration.numbered(scripts))
            DispatchQueue.concurrentPerform(iterations: 16) { number in
                #expect(throws: Never.self) { () throws in
                    if number.isMultiple(of: 2) {
                        try queues[number / 2].writeWithoutTransaction { _ = try onGRDB.migrate($0) }
                    } else {
                        try onOurs.migrate(Connection(path: folder + "/db"))
                    }
                }
            }
            #expect(try queues[0].read { try Int.fetchAll($0, sql: "SELECT x FROM log") } == Array(1...10))
        }
    }
}
