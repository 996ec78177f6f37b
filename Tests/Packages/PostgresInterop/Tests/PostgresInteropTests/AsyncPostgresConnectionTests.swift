import AppMigrationsSQL
import PostgresConnection
import Testing

@Suite struct AsyncPostgresConnectionTests {
    @Test(arguments: Way.all)
    func `each value comes back as it was sent`(_ way: Way) async throws {
        try await withAwaited(way) { db, _ in
            let values: [SQLValue] = [.integer(.min), -1, 0, 1.5, "", "é\n😀", nil]
            let row = try await db.query(
                "SELECT $1::bigint, $2::bigint, $3::bigint, $4::float8, $5::text, $6::text, $7::text",
                values
            )
            #expect(row == [values])
            let isBinary = way.cells == .binary
            let bytes: SQLValue = isBinary ? .blob([0, 255]) : "\\x00ff"
            let typed = "SELECT true, 'x'::name, 7::int2, -7::int4, '\\x00ff'::bytea, $1::bytea"
            let other = try await db.query(typed, [.blob([0, 255])])
            #expect(other == [[isBinary ? 1 : "t", "x", 7, -7, bytes, bytes]])
        }
    }

    @Test(arguments: Way.all)
    func `an error has the server's reason, and the connection goes on`(_ way: Way) async throws {
        try await withAwaited(way) { db, _ in
            for (statement, state) in [("SELECT 1 / 0", "22012"), ("SELECT 1; SELECT 2", "42601")] {
                let error = try await #require(throws: PostgresError.self) { try await db.query(statement) }
                #expect(error.server.sqlState == state)
            }
            #expect(try await db.query("SELECT 1") == [[1]])
        }
    }

    @Test(arguments: Way.all)
    func `tasks that use a connection at once take turns`(_ way: Way) async throws {
        try await withAwaited(way) { db, _ in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in Int64(0)..<100 {
                    group.addTask {
                        try await db.query("SELECT $1::bigint", [.integer(number)]) == [[.integer(number)]]
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test(arguments: Way.all)
    func `a task that is cancelled ends its statement, and its ROLLBACK runs`(_ way: Way) async throws {
        try await withAwaited(way) { db, info in
            let other = try await AsyncPostgresConnection(info)
            try await db.query("BEGIN")
            try await db.query("CREATE TABLE half(x INT)")
            let task = Task {
                do {
                    try await db.query("SELECT pg_sleep(600)::text")
                } catch {
                    try await db.query("ROLLBACK")
                    throw error
                }
            }
            try await untilSleeping(other)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await other.query("SELECT to_regclass('half')::text") == [[nil]])
        }
    }

    @Test(arguments: Way.all)
    func `a connection that is lost ends its statement, and answers no other`(_ way: Way) async throws {
        try await withAwaited(way) { db, info in
            let other = try await AsyncPostgresConnection(info)
            try await db.query("BEGIN")
            let rows = try await db.query("SELECT pg_backend_pid()")
            let sleeping = Task { try await db.query("SELECT pg_sleep(600)::text") }
            try await untilSleeping(other)
            try await other.query("SELECT pg_terminate_backend($1::bigint::int)", try #require(rows.first))
            await #expect(throws: PostgresError.self) { try await sleeping.value }
            let silent = Task { try await db.query("SELECT 1") }
            silent.cancel()
            await #expect(throws: CancellationError.self) { try await silent.value }
            await #expect(throws: PostgresError.self) {
                try await AsyncPostgresConnection("host=127.0.0.1 port=1")
            }
        }
    }

    private func untilSleeping(_ db: AsyncPostgresConnection) async throws {
        let sleeping =
            "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        while try await db.query(sleeping).isEmpty {}
    }
}
