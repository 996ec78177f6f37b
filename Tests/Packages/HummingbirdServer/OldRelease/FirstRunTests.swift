import AppMigrationsFleet
import Synchronization
import Testing

@testable import NotesService

/// The first run of a service whose data is older than the library.
extension NotesService {
    /// The data that exists before the first state does.
    static func firstRun(
        isReadOnly: Bool
    ) async throws -> MigrationManager.FirstRun {
        try await connected { db in
            let rows = try await db.query(
                "SELECT to_regclass('notes')::text"
            )
            let hasNotes = rows[0][0] != .null
            if hasNotes, !isReadOnly {
                try await migrator().markApplied(upTo: 1, in: db)
            }
            return hasNotes ? .existingData(at: "1.1") : .everything
        }
    }

    static func firstManager(isReadOnly: Bool = false) async throws -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: name,
            currentVersion: release,
            firstRun: try await firstRun(isReadOnly: isReadOnly),
            store: PostgresFleetStore { try await connect() },
            options: .init(isReadOnly: isReadOnly)
        )
    }
}

extension NotesService {
    /// The bucket of the avatars.
    static var bucket: String {
        TestDatabase.name == nil ? "avatars" : "avatars-test"
    }
}

@Suite struct FirstRunTests {
    private let helper = OldReleaseTests()

    private static let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'"

    @Test func `a plan of older data makes no table, and a start runs only the later files`() async throws {
        try await helper.inNewDatabase { () async throws -> Void in
            try await NotesService.connected { db in
                try await db.query("CREATE TABLE notes(title TEXT NOT NULL)")
            }
            let planning = try await NotesService.firstManager(isReadOnly: true)
            let rows = try await planning.plan { migrations in try await NotesService.declare(migrations) }
            #expect(rows.map(\.description) == ["1.1 noState", "1.2 willRun", "1.3 willRun", "1.4 willRun"])
            let tables = try await helper.texts(Self.tables)
            #expect(tables == ["notes"])
            try await NotesService.declare(NotesService.firstManager())
            // The first file was only marked as applied. If it had run, it would have failed, because its
            // table exists.
            let files = try await helper.texts("SELECT version::text FROM schema_migrations")
            #expect(files == ["1", "2"])
            let titles = try await helper.texts("SELECT title FROM notes")
            #expect(titles.isEmpty)
        }
    }

    @Test func `the closures of a test use the bucket of the test`() async throws {
        #expect(NotesService.bucket == "avatars")
        try await helper.inNewDatabase { () async throws -> Void in
            let manager = try await NotesService.firstManager()
            try await manager.whenMigrating(toVersion: "1.1") {
                #expect(NotesService.bucket == "avatars-test")
            }
        }
    }

    @Test func `an error whose text differs each time is logged once for each SQLSTATE`() async throws {
        var texts = Set<String>()
        for state in ["53100", "53100", "53300"] {
            try await helper.inNewDatabase { () async throws -> Void in
                let manager = try await NotesService.firstManager()
                let error = await #expect(throws: MigrationError.self) {
                    try await manager.whenMigrating(toVersion: "1.1", in: try await connect()) { db, _ in
                        let raise = "RAISE EXCEPTION 'process %', pg_backend_pid() USING ERRCODE = '\(state)'"
                        try await db.query("DO $$ BEGIN \(raise); END $$")
                    }
                }
                let failure = try #require(error)
                #expect(failure.isTransient)
                texts.insert("\(try #require(failure.underlyingError))")
                NotesService.logOnce("Trying again.", failure)
            }
        }
        #expect(texts.count == 3)
        let reasons = NotesService.logged.withLock { $0 }
        #expect(reasons.count == 2)
    }

    @Test func `an empty database runs everything`() async throws {
        try await helper.inNewDatabase { () async throws -> Void in
            try await NotesService.declare(NotesService.firstManager())
            let titles = try await helper.texts("SELECT title FROM notes")
            #expect(titles == ["one"])
        }
    }
}
