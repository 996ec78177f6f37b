import AppMigrationsSQL
import PostgresConnection
import Testing

/// Statements that PostgreSQL runs outside of a transaction only.
@Suite struct PostgresAloneTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    private let first = Migration(version: 1, sql: "CREATE TABLE people(id BIGINT, name TEXT)")
    private let index = Migration(
        version: 2,
        name: "index",
        sql: """
            -- app-migrations: no transaction
            CREATE INDEX CONCURRENTLY IF NOT EXISTS people_name ON people(name);
            """
    )
    private let last = Migration(version: 3, sql: "ALTER TABLE people ADD COLUMN born INT")

    @Test func `an index is made concurrently, between two others, once`() async throws {
        try await withDatabase { info async throws in
            let db = try await AsyncPostgresConnection(info)
            var told = [String]()
            let report = try await Migrator([first, index, last]).migrate(db) {
                told.append("\($0.completed)/\($0.total) \($0.version)")
                return .continue
            }
            #expect(report.applied == [1, 2, 3])
            #expect(told == ["1/3 1", "2/3 2", "3/3 3"])
            #expect(try await Migrator([first, index, last]).migrate(db).applied == [])
            #expect(try await Migrator([first, index, last]).status(db).changed == [])
            #expect(try await db.query("SELECT to_regclass('people_name')::text") == [["people_name"]])
        }
    }

    @Test func `on a connection that blocks it is the same, and a parameter says so as well`() async throws {
        try await withDatabase { info async throws in
            let db = try PostgresConnection(info)
            let migrations = [
                SQLMigration<PostgresConnection>(version: 1, sql: "CREATE TABLE people(name TEXT)"),
                SQLMigration(version: 2, sql: "VACUUM people", inTransaction: false),
            ]
            #expect(try SQLMigrator(migrations).migrate(db).applied == [1, 2])
        }
    }

    @Test func `a statement that fails is not recorded, and the ones before it stay`() async throws {
        try await withDatabase { info async throws in
            let db = try await AsyncPostgresConnection(info)
            let failing = Migration(
                version: 2,
                sql: "CREATE INDEX CONCURRENTLY ON nothing(x)",
                inTransaction: false
            )
            do throws(SQLError) {
                try await Migrator([first, failing]).migrate(db)
                Issue.record("it has not failed")
            } catch {
                #expect(error.code == .migrationFailed)
                #expect(error.version == 2)
                #expect(error.applied == [1])
            }
            #expect(try await db.query("SELECT version FROM schema_migrations") == [[1]])
            try await db.query("CREATE TABLE nothing(x INT)")
            #expect(try await Migrator([first, failing]).migrate(db).applied == [2])
        }
    }

    @Test func `a death before the record runs it again`() async throws {
        try await withDatabase { info async throws in
            let db = try await AsyncPostgresConnection(info)
            try await Migrator([first]).migrate(db)
            // What a host leaves that died behind the statement.
            try await db.query("CREATE INDEX CONCURRENTLY people_name ON people(name)")
            #expect(try await Migrator([first, index]).migrate(db).applied == [2])
        }
    }

    @Test func `sixteen hosts at once make the index once`() async throws {
        try await withDatabase { info async throws in
            let db = try await AsyncPostgresConnection(info)
            try await Migrator([first]).migrate(db)
            // It fails where it runs a second time.
            let once = Migration(
                version: 2,
                sql: "CREATE INDEX CONCURRENTLY people_name ON people(name)",
                inTransaction: false
            )
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        try await Migrator([first, once, last]).migrate(AsyncPostgresConnection(info)).applied
                            .count
                    }
                }
                let count = try await group.reduce(0, +)
                #expect(count == 2)
            }
        }
    }

    /// Calls another host before each statement.
    private struct Watched: AsyncSQLConnection {
        let db: AsyncPostgresConnection
        let before: (String) async throws -> Void

        static var dialect: SQLDialect { .postgres }

        nonisolated(nonsending) func query(_ sql: String, _ arguments: [SQLValue]) async throws
            -> [[SQLValue]]
        {
            try await before(sql)
            return try await db.query(sql, arguments)
        }
    }

    @Test(arguments: ["CREATE INDEX", "pg_advisory_xact_lock"])
    func `another host waits between the commit and the statement, and between the statement and its record`(
        place: String
    ) async throws {
        try await withDatabase { info async throws in
            try await Migrator([first]).migrate(AsyncPostgresConnection(info))
            // It fails where it runs a second time.
            let sql = "CREATE INDEX CONCURRENTLY people_name ON people(name)"
            let other = try Migrator(
                [first, Migration(version: 2, sql: sql, inTransaction: false)],
                lockTimeout: .milliseconds(300)
            )
            var (places, codes) = (0, [SQLError.Code]())
            let db = Watched(db: try await AsyncPostgresConnection(info)) { sql in
                if sql.contains("CREATE INDEX") { places = 1 }
                guard places == 1, sql.contains(place) else { return }
                places = 2
                let second = try await AsyncPostgresConnection(info)
                do throws(SQLError) {
                    try await other.migrate(second)
                } catch {
                    codes.append(error.code)
                }
            }
            let report = try await SQLMigrator<Watched>([
                SQLMigration(version: 1, sql: "CREATE TABLE people(id BIGINT, name TEXT)"),
                SQLMigration(version: 2, sql: sql, inTransaction: false),
            ]).migrate(db)
            #expect(report.applied == [2])
            #expect(codes == [.busy])
        }
    }
}
