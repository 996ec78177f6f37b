import AppMigrationsSQLite
import Testing

/// Connections that take no statement in a cancelled task, or end one with its answer under way.
@Suite struct AwaitedCancellationTests {
    @Test func `a connection that takes no statement in a cancelled task is in no transaction afterwards`()
        async throws
    {
        let db = try memory()
        let strict = AwaitedConnection(db) { _ in try Task.checkCancellation() }
        let migrator = try AwaitedMigrator([
            AwaitedMigration(version: 1) { db in
                try await db.query("CREATE TABLE a(x)")
                withUnsafeCurrentTask { $0?.cancel() }
            }
        ])
        try db.query("PRAGMA foreign_keys = ON")
        let error = await Task {
            await sqlError { () async throws(SQLError) in try await migrator.migrate(strict) }
        }.value
        #expect(error?.code == .cancelled)
        #expect(error?.description.contains("rollback") == false, "\(error?.description ?? "")")
        #expect(try !db.isInTransaction)
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
        #expect(try tables(in: db) == [])
    }

    @Test func `a BEGIN that fails may have begun, and is rolled back`() async throws {
        // The answer to it is lost.
        let db = AwaitedPostgres { if $0.hasPrefix("BEGIN") { throw CancellationError() } }
        let migrator = try SQLMigrator<AwaitedPostgres>([SQLMigration(version: 1, sql: "SELECT 1")])
        _ = try #require(await sqlError { () async throws(SQLError) in try await migrator.migrate(db) })
        #expect(db.statements.suffix(2) == ["BEGIN ISOLATION LEVEL READ COMMITTED", "ROLLBACK"])
    }

    /// A connection that is told of a cancellation when the statement is done.
    private final class Late: AsyncSQLConnection, @unchecked Sendable {
        let db: SQLiteConnection
        let cancelling: String
        var task: Task<SQLError?, Never>?

        init(_ db: SQLiteConnection, cancelling: String) { (self.db, self.cancelling) = (db, cancelling) }

        nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws
            -> [[SQLValue]]
        {
            let rows = try db.query(sql, arguments)
            if sql == cancelling { task?.cancel() }
            try Task.checkCancellation()
            return rows
        }
    }

    @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN"])
    func `a BEGIN of SQLite that is cancelled leaves no transaction`(cancelling: String) async throws {
        try await withTemporaryFolder { folder in
            let other = try SQLiteConnection(path: folder + "/data.sqlite")
            // Only a BEGIN that fails has the connection tried by another one.
            if cancelling == "BEGIN" { try other.query("BEGIN IMMEDIATE") }
            let late = try Late(SQLiteConnection(path: folder + "/data.sqlite"), cancelling: cancelling)
            let migrator = try SQLMigrator<Late>(
                [SQLMigration(version: 1, sql: "CREATE TABLE a(x)")],
                lockTimeout: .zero
            )
            let (starts, start) = AsyncStream<Void>.makeStream()
            let task = Task {
                for await _ in starts { break }
                return await sqlError { () async throws(SQLError) in try await migrator.migrate(late) }
            }
            late.task = task
            start.yield()
            #expect(await task.value != nil)
            #expect(try !late.db.isInTransaction)
        }
    }
}
