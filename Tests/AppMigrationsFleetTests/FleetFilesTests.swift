import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import AppMigrationsSQLite
import Testing

/// Numbered files of a fleet, in a database that isn't the store.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct FleetFilesTests {
    let fleet = Fleet()
    let db: BatchConnection

    init() throws {
        db = BatchConnection(base: try PostgresStandIn(TemporaryDirectory.current.file("data.sqlite")))
    }

    private static func migrator<Connection>(
        of versions: ClosedRange<Int64>,
        ledger: String = "schema_migrations"
    ) throws -> SQLMigrator<Connection> {
        try SQLMigrator(
            versions.map { SQLMigration(version: $0, sql: "CREATE TABLE \(ledger)\($0) (number INTEGER)") },
            ledger: ledger
        )
    }

    /// The notes of the events `finished`, and "" for an event without one.
    private var notes: [String] {
        fleet.log.lines.compactMap { line in
            line.hasPrefix("a finished") ? String(line.dropFirst("a finished".count)) : nil
        }
    }

    @Test func `after a reset no file runs again, and an event says so`() async throws {
        let migrator: SQLMigrator<BatchConnection> = try Self.migrator(of: 1...2)
        let texts = Log()
        let manager = try await fleet.host { options in
            options.onEvent = { if $0.kind == .finished { texts.add($0.note ?? "") } }
        }
        #expect(try await manager.whenMigrating(toVersion: "1.1") { try await migrator.migrate(db, to: 1) })
        try await manager.reset(to: "1.0")
        #expect(try await manager.whenMigrating(toVersion: "1.1") { try await migrator.migrate(db, to: 1) })
        #expect(try await manager.whenMigrating(toVersion: "1.2") { try await migrator.migrate(db) })
        let note = "no file ran, because schema_migrations says that all files of 1.1 have run"
        #expect(texts.lines == ["", note, ""])
    }

    @Test func `a file runs again after its row was deleted and its version was reset`() async throws {
        let migrator: SQLMigrator<BatchConnection> = try Self.migrator(of: 1...2)
        let manager = try await fleet.host()
        try await manager.whenMigrating(toVersion: "1.1") { try await migrator.migrate(db) }
        try await db.query("DROP TABLE schema_migrations2")
        try await db.query("DELETE FROM schema_migrations WHERE version = 2")
        try await manager.reset(to: "1.0")
        try await manager.whenMigrating(toVersion: "1.1") { try await migrator.migrate(db) }
        #expect(try await db.query("SELECT count(*) FROM schema_migrations2") == [[0]])
        #expect(notes == ["", ""])
    }

    @Test func `there is no such note if one of two migrators ran a file, or if a migrator has no file`()
        async throws
    {
        let old: SQLMigrator<BatchConnection> = try Self.migrator(of: 1...1, ledger: "old")
        let new: SQLMigrator<BatchConnection> = try Self.migrator(of: 1...1, ledger: "new")
        try await old.migrate(db)
        let manager = try await fleet.host()
        try await manager.whenMigrating(toVersion: "1.1") {
            try await old.migrate(db)
            try await new.migrate(db)
            try await old.migrate(db)
        }
        try await manager.whenMigrating(toVersion: "1.2") {
            try await SQLMigrator<BatchConnection>([]).migrate(db)
        }
        #expect(notes == ["", ""])
    }

    @Test func `a migrator on a connection that blocks gives the event a note, too`() async throws {
        let migrator: SQLMigrator<SQLiteConnection> = try Self.migrator(of: 1...1)
        let path = TemporaryDirectory.current.file("blocking.sqlite")
        let manager = try await fleet.host()
        for version in ["1.1", "1.2"] {
            try await manager.whenMigrating(toVersion: version) {
                try migrator.migrate(SQLiteConnection(path: path))
            }
        }
        #expect(notes == ["", " no file ran"])
    }
}
