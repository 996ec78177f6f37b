import AppMigrationsSQL
import PostgresConnection
import Testing

/// Statements that PostgreSQL runs outside of a transaction only.
@Suite struct PostgresAloneTests {
    private typealias Migration = SQLMigration<AsyncPostgresConnection>
    private typealias Migrator = SQLMigrator<AsyncPostgresConnection>

    private static let people = "CREATE TABLE people(id BIGINT, name TEXT)"
    private static let makeIndex = "CREATE INDEX CONCURRENTLY people_name ON people(name)"

    private let first = Migration(version: 1, sql: Self.people)
    /// A migration that fails where it runs a second time.
    private let once = Migration(version: 2, sql: Self.makeIndex, inTransaction: false)
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
        try await withAwaited { db, _ async throws in
            var told = [String]()
            let report = try await Migrator([first, index, last]).migrate(db) {
                told.append("\($0.completed)/\($0.total) \($0.version)")
                return .continue
            }
            #expect(report.applied == [1, 2, 3])
            #expect(told == ["1/3 1", "2/3 2", "3/3 3"])
            #expect(try await Migrator([first, index, last]).migrate(db).applied == [])
            #expect(try await Migrator([first, index, last]).status(db).editedVersions == [])
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
        try await withAwaited { db, _ async throws in
            let failing = Migration(
                version: 2,
                sql: "CREATE INDEX CONCURRENTLY ON nothing(x)",
                inTransaction: false
            )
            let error = await #expect(throws: SQLError.self) {
                try await Migrator([first, failing]).migrate(db)
            }
            #expect(error?.code == .migrationFailed)
            #expect(error?.version == 2)
            #expect(error?.applied == [1])
            #expect(try await db.query("SELECT version FROM schema_migrations") == [[1]])
            try await db.query("CREATE TABLE nothing(x INT)")
            #expect(try await Migrator([first, failing]).migrate(db).applied == [2])
        }
    }

    @Test func `a death before the record runs it again`() async throws {
        try await withAwaited { db, _ async throws in
            try await Migrator([first]).migrate(db)
            // A host died behind the statement, and left its index.
            try await db.query(Self.makeIndex)
            #expect(try await Migrator([first, index]).migrate(db).applied == [2])
        }
    }

    @Test func `sixteen hosts at once make the index once`() async throws {
        try await withAwaited { db, info async throws in
            try await Migrator([first]).migrate(db)
            let count = try await sum(of: 16) {
                let migrator = try Migrator([first, once, last])
                return try await migrator.migrate(AsyncPostgresConnection(info)).applied.count
            }
            #expect(count == 2)
        }
    }

    private let unique = Migration(
        version: 2,
        sql: "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS people_name ON people(name)",
        inTransaction: false
    )

    /// A connection to a database with the index that a failed attempt leaves behind, invalid.
    private func failing(_ info: String) async throws -> AsyncPostgresConnection {
        let db = try await AsyncPostgresConnection(info)
        try await Migrator([first]).migrate(db)
        try await db.query("INSERT INTO people VALUES (1, 'one'), (2, 'one')")
        await #expect(throws: SQLError.self) { try await Migrator([first, unique]).migrate(db) }
        try await db.query("DELETE FROM people WHERE id = 2")
        return db
    }

    @Test func `an invalid index that IF NOT EXISTS passes over is no success`() async throws {
        try await withDatabase { info async throws in
            let db = try await failing(info)
            for _ in 1...2 {
                let error = try #require(
                    await #expect(throws: SQLError.self) {
                        try await Migrator([first, unique, last]).migrate(db)
                    }
                )
                #expect(error.code == .migrationFailed)
                #expect(error.version == 2)
                let words = "The index people_name is invalid: a failed attempt left it"
                #expect(error.message.hasPrefix(words), "\(error)")
            }
            #expect(try await db.query("SELECT version FROM schema_migrations") == [[1]])
            // An index of that name for another table is none of its business.
            try await db.query("DROP INDEX people_name")
            try await db.query("CREATE SCHEMA elsewhere")
            try await db.query("CREATE TABLE elsewhere.people AS SELECT 1 AS id UNION ALL SELECT 1")
            await #expect(throws: (any Error).self) {
                try await db.query("CREATE UNIQUE INDEX CONCURRENTLY people_name ON elsewhere.people(id)")
            }
            #expect(try await Migrator([first, unique]).migrate(db).applied == [2])
        }
    }

    @Test(arguments: [true, false])
    func `a script that drops the index first makes it after a failure, and after a death before the record`(
        isAwaited: Bool
    ) async throws {
        try await withDatabase { info async throws in
            let db = try await failing(info)
            let script = """
                -- app-migrations: no transaction
                DROP INDEX CONCURRENTLY IF EXISTS people_name;
                CREATE UNIQUE INDEX CONCURRENTLY people_name ON people(name);
                """
            for _ in 1...2 {
                let applied =
                    isAwaited
                    ? try await Migrator([first, Migration(version: 2, sql: script)]).migrate(db).applied
                    : try migrateBlocking(info, script)
                #expect(applied == [2])
                #expect(
                    try await db.query(
                        "SELECT indisvalid::text FROM pg_index WHERE indrelid = 'people'::regclass"
                    )
                        == [["true"]]
                )
                try await db.query("DELETE FROM schema_migrations WHERE version = 2")
            }
        }
    }

    private func migrateBlocking(_ info: String, _ script: String) throws -> [Int64] {
        try SQLMigrator<PostgresConnection>([
            SQLMigration(version: 1, sql: Self.people), SQLMigration(version: 2, sql: script),
        ]).migrate(PostgresConnection(info)).applied
    }

    @Test(arguments: [makeIndex, "VACUUM people", "DROP INDEX CONCURRENTLY a"], [true, false])
    func `a statement that needs no transaction says how to have none`(_ sql: String, isAwaited: Bool)
        async throws
    {
        try await withAwaited { db, info async throws in
            try await Migrator([first]).migrate(db)
            let error: SQLError? =
                if isAwaited {
                    await #expect(throws: SQLError.self) {
                        try await Migrator([first, Migration(version: 2, sql: sql)]).migrate(db)
                    }
                } else {
                    #expect(throws: SQLError.self) { try migrateBlocking(info, sql) }
                }
            #expect(
                error?.message.contains("below the first line \"-- app-migrations: no transaction\"") == true,
                "\(error?.description ?? "")"
            )
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

    @Test(arguments: ["CREATE INDEX", "advisory_xact_lock"])
    func `another host waits between the commit and the statement, and between the statement and its record`(
        place: String
    ) async throws {
        try await withDatabase { info async throws in
            try await Migrator([first]).migrate(AsyncPostgresConnection(info))
            let other = try Migrator([first, once], lockTimeout: .seconds(2))
            var (places, codes, told) = (0, [SQLError.Code](), 0)
            let db = Watched(db: try await AsyncPostgresConnection(info)) { sql in
                if sql.contains("CREATE INDEX") { places = 1 }
                guard places == 1, sql.contains(place) else { return }
                places = 2
                let second = try await AsyncPostgresConnection(info)
                do throws(SQLError) {
                    try await other.migrate(second, waiting: { told += 1 })
                } catch {
                    codes.append(error.code)
                    #expect(
                        error.message.hasPrefix(
                            "Another host still runs the statement, in the server's process "
                        ),
                        "\(error)"
                    )
                }
            }
            let report = try await SQLMigrator<Watched>([
                SQLMigration(version: 1, sql: Self.people),
                SQLMigration(version: 2, sql: Self.makeIndex, inTransaction: false),
            ]).migrate(db)
            #expect(report.applied == [2])
            #expect(codes == [.busy])
            #expect(told == 1)
        }
    }
}
