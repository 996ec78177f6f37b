import AppMigrations
import Testing

@testable import AppMigrationsSQLite

/// The errors that can follow a migration which was applied in the same call.
@Suite(.temporaryDirectory) struct SQLLaterErrorTests {
    @Test func `an error after a migration that was applied doesn't say that none was run`() {
        let error = SQLError(
            .foreignLedger,
            "The table schema_migrations is golang-migrate's: it has a column dirty"
        ).with {
            $0.version = 2
            $0.applied = [1]
        }
        #expect(
            error.description
                == "Migration 2: The table schema_migrations is golang-migrate's: it has a column dirty."
                + " Applied before the failure and kept: 1. No further migration was run. Give this migrator a ledger of its own (ledger:)."
        )
    }

    @Test func `a script that is refused speaks of itself`() throws {
        let db = try memory()
        let error = try sqlError {
            try Migrator(SQLMigration.numbered(["CREATE TABLE a(x)", "SELECT 1; /* "])).migrate(db)
        }
        #expect(error.code == .invalidScript)
        let text = error.description
        #expect(
            text.hasSuffix(
                "No statement of the script was run. Correct its text."
            ),
            "\(text)"
        )
        #expect(!text.contains("Nothing was run"))
    }

    /// The forms that run a closure in a database say the same as those that don't.
    @Test func `an error of in: after a version that ran says what became of its own version`() throws {
        let folder = TemporaryDirectory.current
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: folder.path
        )
        let place = "manager \"Library\" (\(manager.stateFile))"
        let db = try memory()
        try #require(
            try manager.whenMigrating(toVersion: "1.2", in: db) { db, _ in try db.query("CREATE TABLE a(x)") }
        )
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.3", in: db) { db, _ in try db.query("CREATE TABLE a(x)") }
        }
        #expect(error.code == .migrationFailed)
        #expect(
            error.description.hasPrefix(
                "Migration 1.3 of \(place) failed in attempt 1: "
            )
        )
        #expect(error.description.hasSuffix(" It is not recorded, and runs again with the next manager."))
        #expect(!error.description.contains("Nothing was run"))
        let newer = try #require(throws: MigrationError.self) { try manager.reset(to: "1.5", in: db) }
        #expect(newer.code == .newerThanCurrentVersion)
        #expect(newer.description.contains(" is newer than the app (1.4). Nothing was reset. "))
    }

    /// The rows would be gone, and the state as it was.
    @Test func `a reset below upgradesFrom removes no rows`() throws {
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: TemporaryDirectory.current.path,
            options: MigrationManager.Options(upgradesFrom: "1.0")
        )
        let db = try memory()
        try manager.whenMigrating(toVersion: "1.2", in: db) { db, _ in try db.query("CREATE TABLE a(x)") }
        let error = try #require(throws: MigrationError.self) { try manager.reset(to: "0.9", in: db) }
        #expect(error.code == .tooOld)
        #expect(try db.query("SELECT version FROM app_migrations") == [[.text("1.2")]])
    }
}
