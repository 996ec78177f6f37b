import Foundation
import Testing

@testable import AppMigrationsSQLite

@Suite(.temporaryDirectory) struct SQLMigratorFailureTests {
    let folder = TemporaryDirectory.current.path

    private let migrations = [
        Migration(version: 1, sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1)"),
        Migration(version: 2, sql: "CREATE TABLE b(x)"),
    ]

    @Test func `a lock held for longer than the wait is an error, and nothing was changed`() throws {
        let holder = try SQLiteConnection(path: folder + "/db")
        let db = try SQLiteConnection(path: folder + "/db", busyTimeout: .seconds(600))
        try holder.transaction {
            for connection in [db, db.borrowed] {
                let error = try sqlError {
                    try Migrator(migrations, lockTimeout: .inVain).migrate(connection)
                }
                #expect(error.code == .busy)
                #expect(
                    error.description
                        == "Migration 1: \(db.path): database is locked (SQLite error 5). Statement: BEGIN IMMEDIATE;"
                        + " It changed nothing. Try again, or wait longer (lockTimeout:, busyTimeout:)."
                )
            }
        }
        #expect(try tables(in: db).isEmpty)
    }

    @Test(arguments: [false, true])
    func `a lock held for less than the wait is waited for`(isBorrowed: Bool) throws {
        let holder = try SQLiteConnection(path: folder + "/db")
        // No wait of its own: only the migrator's can save it.
        let owner = try SQLiteConnection(path: folder + "/db", busyTimeout: .zero)
        if isBorrowed { try owner.query("PRAGMA busy_timeout = 0") }
        try holder.query("BEGIN IMMEDIATE")
        // The work of many milliseconds, that begins before the migrator and ends after it has met the
        // lock.
        Thread.detachNewThread {
            #expect(throws: Never.self) {
                try holder.query(
                    """
                    CREATE TABLE held AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000)
                    SELECT x FROM n
                    """
                )
                try holder.query("COMMIT")
            }
        }
        let db = isBorrowed ? owner.borrowed : owner
        #expect(try Migrator(migrations).migrate(db).applied == [1, 2])
        #expect(try tables(in: db) == ["a", "b", "held"])
    }

    @Test func `a cancelled task does not wait for the lock`() async throws {
        let db = try SQLiteConnection(path: folder + "/db")
        let holder = try SQLiteConnection(path: db.path)
        try holder.query("BEGIN EXCLUSIVE")
        let migrator = try Migrator(migrations, lockTimeout: .seconds(3600))
        let waiting = Task { try sqlError { try migrator.migrate(db) } }
        waiting.cancel()
        #expect(try await waiting.value.code == .cancelled)
    }

    @Test func `a read-only database is an error that says so`() throws {
        try SQLiteConnection(path: folder + "/db").query("CREATE TABLE mine(x)")
        let db = try SQLiteConnection(path: folder + "/db", readOnly: true)
        let error = try sqlError { try Migrator(migrations).migrate(db) }
        #expect(error.code == .readOnly)
        #expect(MigrationAdvice(after: error) == .makeWritable)
        #expect(error.version == 1)
        #expect(try Migrator(migrations).status(db).pending == [1, 2])
    }

    @Test(arguments: [Migrator.Transactions.eachMigration, .all])
    func `a full database keeps what was committed`(transactions: Migrator.Transactions) throws {
        let db = try SQLiteConnection(path: folder + "/db")
        try db.query("PRAGMA foreign_keys = ON")
        let large = Migration(version: 3, sql: "INSERT INTO b VALUES (zeroblob(1000000)); CREATE TABLE c(x)")
        let migrator = try Migrator(migrations + [large], transactions: transactions)
        try db.query("PRAGMA max_page_count = 50")
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .diskFull)
        #expect(MigrationAdvice(after: error) == .makeRoom)
        #expect(error.version == 3)
        #expect(error.line == 1)
        let kept: [Int64] = transactions == .all ? [] : [1, 2]
        #expect(error.applied == kept)
        #expect(try migrator.status(db).applied == kept)
        #expect(try !db.isInTransaction)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        try db.query("PRAGMA max_page_count = 10000")
        try migrator.migrate(db)
        #expect(try tables(in: db) == ["a", "b", "c"])
    }

    @Test func `a shared memory file that can't grow asks the user for room`() {
        // SQLITE_IOERR_SHMSIZE and SQLITE_IOERR_SHMOPEN
        for (code, advice) in [(4_874, MigrationAdvice.makeRoom), (4_618, .sendDetails)] {
            let error = SQLError(.statementFailed, "I/O").with { $0.extendedResultCode = Int32(code) }
            #expect(MigrationAdvice(after: error) == advice)
        }
    }

    @Test func `a commit that a reader holds up is undone`() throws {
        let db = try SQLiteConnection(path: folder + "/db")
        try db.query("CREATE TABLE mine(x)")
        try db.query("INSERT INTO mine VALUES (1), (2)")
        let reader = try SQLiteConnection(path: folder + "/db")
        try reader.query("BEGIN")
        try reader.query("SELECT * FROM mine")
        let migrator = try Migrator(migrations, lockTimeout: .inVain)
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .busy)
        #expect(error.applied == [])
        #expect(try !db.isInTransaction)
        try reader.query("COMMIT")
        #expect(try migrator.migrate(db).applied == [1, 2])
    }
}
