import AppMigrationsSQLite
import Testing

/// Connections that take no statement in a cancelled task, or whose answers are lost.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct AwaitedCancellationTests {
    @Test func `a BEGIN that fails may have begun, and is rolled back`() async throws {
        // The answer to it is lost.
        let db = AwaitedPostgres { if $0.hasPrefix("BEGIN") { throw CancellationError() } }
        let migrator = try SQLMigrator<AwaitedPostgres>([SQLMigration(version: 1, sql: "SELECT 1")])
        _ = try #require(await sqlError { () async throws(SQLError) in try await migrator.migrate(db) })
        #expect(db.statements.suffix(2) == ["BEGIN ISOLATION LEVEL READ COMMITTED", "ROLLBACK"])
    }

    /// A connection whose answers to some statements are lost: it fails when they are done.
    private final class Late: AsyncSQLConnection, @unchecked Sendable {
        static var dialect: SQLDialect { .sqlite }

        let db: SQLiteConnection
        var before: (String) throws -> Void = { _ in }
        var after: (String) throws -> Void = { _ in }
        var task: Task<SQLError?, Never>?

        init(_ db: SQLiteConnection) { self.db = db }

        nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws
            -> [[SQLValue]]
        {
            try before(sql)
            try Task.checkCancellation()
            let rows = try db.query(sql, arguments)
            try after(sql)
            try Task.checkCancellation()
            return rows
        }
    }

    /// Migrates in a task that the connection can cancel.
    private func migrate(_ late: Late, by migrator: SQLMigrator<Late>) async -> SQLError? {
        let (starts, start) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in starts { break }
            return await sqlError { () async throws(SQLError) in try await migrator.migrate(late) }
        }
        late.task = task
        start.yield()
        return await task.value
    }

    private let migrations = [
        SQLMigration<Late>(version: 1, sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1)"),
        SQLMigration<Late>(version: 2) { db, _ in try await db.query("INSERT INTO a VALUES (2)") },
    ]

    @Test func `a BEGIN of SQLite that is cancelled leaves no transaction`() async throws {
        try await withTemporaryFolder { folder in
            let other = try SQLiteConnection(path: folder + "/data.sqlite")
            // Only a BEGIN that fails has the connection tried by another one.
            try other.query("BEGIN IMMEDIATE")
            let late = try Late(SQLiteConnection(path: folder + "/data.sqlite"))
            late.after = { if $0 == "BEGIN" { late.task?.cancel() } }
            #expect(await migrate(late, by: try SQLMigrator(migrations, lockTimeout: .zero)) != nil)
            #expect(try !late.db.isInTransaction)
        }
    }

    @Test(arguments: [false, true])
    func `wherever a task is cancelled, no transaction stays, and the next call goes on`(
        isAnswerLost: Bool
    ) async throws {
        let migrator = try SQLMigrator(migrations)
        var (place, count) = (0, 0)
        repeat {
            place += 1
            let late = Late(try memory(foreignKeys: true))
            let pragmas = ["foreign_keys", "busy_timeout"]
            let settings = try pragmas.map { try late.db.query("PRAGMA \($0)") }
            count = 0
            let cancel = { [place] (_: String) in
                count += 1
                if count == place { late.task?.cancel() }
            }
            if isAnswerLost { late.after = cancel } else { late.before = cancel }
            let error = await migrate(late, by: migrator)
            #expect(error == nil || error?.code == .cancelled, "\(place): \(error?.description ?? "")")
            #expect(error?.message.contains("rollback") != true, "\(place)")
            #expect(try !late.db.isInTransaction, "\(place)")
            #expect(try pragmas.map { try late.db.query("PRAGMA \($0)") } == settings, "\(place)")
            let next = Late(late.db)
            #expect(await migrate(next, by: migrator) == nil)
            #expect(try late.db.query("SELECT x FROM a") == [[1], [2]], "\(place)")
        } while count >= place
        #expect(place > 20)
    }

    @Test func `a COMMIT that gets no answer has committed, and the next call runs what is left`()
        async throws
    {
        let migrator = try SQLMigrator(migrations)
        let late = Late(try memory())
        late.after = { if $0 == "COMMIT" { throw Failure() } }
        for version in [1, 2] as [Int64] {
            let error = await migrate(late, by: migrator)
            #expect((error?.version, error?.applied) == (version, []))
            #expect(try !late.db.isInTransaction)
            #expect(try ledger(of: late.db).last == version)
        }
        #expect(await migrate(late, by: migrator) == nil)
        #expect(try late.db.query("SELECT x FROM a") == [[1], [2]])
    }
}
