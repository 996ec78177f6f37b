import AppMigrationsSQLite
import GRDB
import Testing

@Suite struct GRDBArticleTests {
    private func migrator() throws -> SQLMigrator<Database> {
        try SQLMigrator([
            SQLMigration(version: 1, sql: "CREATE TABLE note(x); INSERT INTO note VALUES (1)"),
            SQLMigration(version: 2) { db, _ in try db.query("UPDATE note SET x = x + ?", [.integer(1)]) },
        ])
    }

    @Test func `the sample of the queue applies each migration once`() throws {
        let queue = try DatabaseQueue()
        for _ in 1...2 { try migrate(queue, with: migrator()) }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT x FROM note") } == [2])
    }

    @Test func `the sample of a writer applies each migration once, awaited`() async throws {
        let queue = try DatabaseQueue()
        for _ in 1...2 { try await migrate(queue as any DatabaseWriter, with: migrator()) }
        #expect(try await queue.read { try Int.fetchAll($0, sql: "SELECT x FROM note") } == [2])
    }
}
