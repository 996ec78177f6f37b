import AppMigrationsSQL
import PostgresConnection
import Testing

/// A host that vanishes holds its locks until the server notices.
@Suite struct PostgresProbeTests {
    private let settings = ["tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count"]

    @Test func `while a migration runs the server looks for its host, and as before after it`() async throws {
        try await withDatabase { info in
            let db = try await AsyncPostgresConnection(info)
            var before = [[SQLValue]]()
            for name in settings { before += try await db.query("SHOW \(name)") }
            let migration = SQLMigration<AsyncPostgresConnection>(version: 1) { [settings] db in
                var inside = [[SQLValue]]()
                for name in settings { inside += try await db.query("SHOW \(name)") }
                #expect(inside == [["10"], ["5"], ["3"]])
            }
            #expect(try await SQLMigrator([migration]).migrate(db).applied == [1])
            var after = [[SQLValue]]()
            for name in settings { after += try await db.query("SHOW \(name)") }
            #expect(after == before)
            #expect(before != [["10"], ["5"], ["3"]])
        }
    }
}
