import AppMigrationsFleet
import Testing

@testable import NotesService

/// The data that a release has left.
struct OldRelease: Sendable {
    let version: String
    /// The last numbered file that had run.
    let lastFile: Int64
    let sql: String
    /// Its rows after the migrations.
    let rows: [String]
}

@Suite struct OldReleaseTests {
    static let releases = [
        OldRelease(
            version: "1.1",
            lastFile: 1,
            sql: """
                CREATE TABLE notes (title TEXT NOT NULL);
                INSERT INTO notes VALUES (' one '), ('two');
                """,
            rows: ["one, white", "two, white"]
        ),
        OldRelease(
            version: "1.3",
            lastFile: 1,
            sql: """
                CREATE TABLE notes (title TEXT NOT NULL);
                INSERT INTO notes VALUES ('');
                """,
            rows: [", white"]
        ),
    ]
    static let rows = """
        SELECT concat_ws(', ', title, color) FROM notes
        """
    /// Without the tables of the library.
    static let schema = """
        SELECT concat_ws(' ', table_name, column_name, data_type,
            is_nullable, column_default)
        FROM information_schema.columns
        WHERE table_schema = 'public'
            AND table_name NOT IN (\(own))
        UNION ALL SELECT indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND tablename NOT IN (\(own))
        """
    static let own = """
        'app_migration_state', 'app_migrations', 'schema_migrations'
        """

    @Test(arguments: releases)
    func `old data become like those of a new install`(
        _ old: OldRelease
    ) async throws {
        let new = try await inNewDatabase {
            try await migrate(firstRun: .everything)
            return try await texts(Self.schema)
        }
        try await inNewDatabase {
            try await restore(old)
            let version = old.version
            try await migrate(firstRun: .existingData(at: version))
            #expect(try await texts(Self.schema) == new)
            #expect(try await texts(Self.rows) == old.rows)
        }
    }

    /// Runs the migrations as a host of the service does.
    func migrate(
        firstRun: MigrationManager.FirstRun
    ) async throws {
        try await NotesService.declare(
            FleetMigrationManager(
                named: NotesService.name,
                currentVersion: NotesService.release,
                firstRun: firstRun,
                store: PostgresFleetStore {
                    try await connect()
                }
            )
        )
    }

    func restore(_ old: OldRelease) async throws {
        try await NotesService.connected { db in
            let script = try SQLMigrator<MigrationConnection>(
                [SQLMigration(version: 1, sql: old.sql)],
                ledger: "script"
            )
            try await script.migrate(db)
            try await db.query("DROP TABLE script")
            try await NotesService.migrator()
                .markApplied(upTo: old.lastFile, in: db)
        }
    }

    /// The texts of a query, in the same order each time.
    func texts(_ sql: String) async throws -> [String] {
        try await NotesService.connected { db in
            try await db.query(sql).compactMap { row in
                guard case .text(let text) = row[0]
                else { return nil }
                return text
            }
        }.sorted()
    }

    func inNewDatabase<Value>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        let name = "test_\(UInt64.random(in: 0 ... .max))"
        try await NotesService.connected {
            try await $0.query("CREATE DATABASE \(name)")
        }
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await TestDatabase.$name.withValue(name) {
                    try await body()
                }
            )
        } catch {
            result = .failure(error)
        }
        try await NotesService.connected {
            try await $0.query("DROP DATABASE \(name) (FORCE)")
        }
        return try result.get()
    }
}
