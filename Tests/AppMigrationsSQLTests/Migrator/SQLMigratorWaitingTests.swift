import AppMigrationsSQLite
import Testing

/// The waits for another process that has the lock, and the closures that hear of them.
@Suite(.temporaryDirectory) struct SQLMigratorWaitingTests {
    let folder = TemporaryDirectory.current.path

    private let migrations = [
        Migration(version: 1, sql: "CREATE TABLE a(x)"), Migration(version: 2, sql: "CREATE TABLE b(x)"),
    ]

    private func migrateOther(_ db: OtherConnection, waiting: () -> Void = {}) throws {
        let migration = SQLMigration<OtherConnection>(version: 1, sql: "CREATE TABLE a(x)")
        try SQLMigrator([migration], lockTimeout: .inVain).migrate(db, waiting: waiting)
    }

    @Test(arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func `a free lock is told to nobody, and one that is held before the wait begins`(lock: String) throws {
        let db = try SQLiteConnection(path: folder + "/db")
        let other = try SQLiteConnection(path: folder + "/db")
        var waits = 0
        try other.query("BEGIN \(lock)")
        let report = try Migrator(migrations).migrate(
            db,
            waiting: {
                waits += 1
                #expect(throws: Never.self) { try other.query("COMMIT") }
            }
        )
        #expect(report.applied == [1, 2])
        #expect(waits == 1)
    }

    @Test func `a wait in vain is told of and is busy, on the connection of another library too`() throws {
        let db = try SQLiteConnection(path: folder + "/db")
        try db.query("PRAGMA busy_timeout = 7")
        let other = try SQLiteConnection(path: folder + "/db")
        try other.query("BEGIN IMMEDIATE")
        var waits = 0
        let error = try sqlError { try migrateOther(OtherConnection(db)) { waits += 1 } }
        #expect(error.code == .busy)
        #expect(waits == 1)
        #expect(try db.query("PRAGMA busy_timeout") == [[7]])
    }

    @Test func `a lock that keeps readers out is waited for once`() throws {
        let holder = try SQLiteConnection(path: folder + "/db")
        try holder.query("BEGIN EXCLUSIVE")
        var reads = 0
        let db = OtherConnection(try SQLiteConnection(path: folder + "/db")) {
            if $0.hasPrefix("SELECT") { reads += 1 }
        }
        #expect(try sqlError { try migrateOther(db) }.code == .busy)
        // Once without a wait, and once with it.
        #expect(reads == 2)
    }

    @Test func `a connection in a transaction waits for nobody`() throws {
        let db = try memory()
        try db.query("BEGIN")
        let error = try sqlError {
            try Migrator(migrations).migrate(db, waiting: { Issue.record("nobody has the lock") })
        }
        #expect(error.code == .alreadyInTransaction)
    }

    @Test func `on a connection that is awaited it is told as well`() async throws {
        let db = AwaitedConnection(try SQLiteConnection(path: folder + "/db"))
        let other = try SQLiteConnection(path: folder + "/db")
        try other.query("BEGIN IMMEDIATE")
        var waits = 0
        let migrator = try AwaitedMigrator([AwaitedMigration(version: 1, sql: "CREATE TABLE a(x)")])
        try await migrator.migrate(
            db,
            waiting: {
                waits += 1
                #expect(throws: Never.self) { try other.query("COMMIT") }
            }
        )
        #expect(waits == 1)
    }
}
