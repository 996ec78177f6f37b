import AppMigrationsSQL
import PostgresConnection
import Testing

/// A host that vanishes holds its locks until the server notices.
@Suite struct PostgresProbeTests {
    @Test func `while a migration runs the server looks for its host, and as before after it`() async throws {
        try await withAwaited { db, _ in
            let before = try await keepalives(of: db)
            let migration = SQLMigration<AsyncPostgresConnection>(version: 1) { db, _ async throws in
                #expect(try await keepalives(of: db) == [["10"], ["5"], ["3"]])
            }
            #expect(try await SQLMigrator([migration]).migrate(db).applied == [1])
            #expect(try await keepalives(of: db) == before)
            #expect(before != [["10"], ["5"], ["3"]])
        }
    }
}
