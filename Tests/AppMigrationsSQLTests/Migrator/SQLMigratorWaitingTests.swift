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

/// With a rollback journal a commit waits for the readers.
extension SQLMigratorWaitingTests {
    /// Another connection to the same file, in a transaction that has read the table `t`.
    private func reader(of db: SQLiteConnection) throws -> SQLiteConnection {
        try db.query("CREATE TABLE t(x)")
        let reader = try SQLiteConnection(path: folder + "/db")
        try reader.query("BEGIN")
        try reader.query("SELECT * FROM t")
        return reader
    }

    @Test(arguments: [false, true])
    func `a reader that keeps a commit waiting is told of, once for each commit`(isOther: Bool) throws {
        let db = try SQLiteConnection(path: folder + "/db")
        let reader = try reader(of: db)
        var waits = 0
        let endReading = {
            waits += 1
            #expect(throws: Never.self) { try reader.query("COMMIT") }
        }
        if isOther {
            let migration = SQLMigration<OtherConnection>(version: 1, sql: "CREATE TABLE a(x)")
            try SQLMigrator([migration]).migrate(OtherConnection(db), waiting: endReading)
        } else {
            try Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]).migrate(db, waiting: endReading)
        }
        #expect(waits == 1)
        #expect(try tables(in: db) == ["a", "t"])
    }

    @Test(arguments: ["BEGIN IMMEDIATE", "COMMIT"])
    func `a statement that fails in words of another library is tried once more`(statement: String) throws {
        var isFirst = true
        let db = OtherConnection(try SQLiteConnection(path: folder + "/db")) { sql in
            guard sql.hasSuffix(statement), isFirst else { return }
            isFirst = false
            throw OtherConnection.Failure(description: "gesperrt")
        }
        try migrateOther(db)
        #expect(!isFirst)
        #expect(try tables(in: db.db) == ["a"])
    }

    @Test func `a reader that never ends lets the migration fail, and nothing of it stays`() throws {
        let db = try SQLiteConnection(path: folder + "/db")
        let reader = try reader(of: db)
        let migration = Migration(version: 1, sql: "CREATE TABLE a(x)")
        let error = try sqlError { try Migrator([migration], lockTimeout: .inVain).migrate(db) }
        #expect(error.code == .busy)
        try reader.query("COMMIT")
        #expect(try tables(in: db) == ["t"])
    }
}
