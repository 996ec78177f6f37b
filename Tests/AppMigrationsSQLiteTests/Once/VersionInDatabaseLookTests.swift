import AppMigrations
import Foundation
import Testing

@testable import AppMigrationsSQLite

/// A manager that only looks, and a database.
@Suite(.temporaryDirectory) struct VersionInDatabaseLookTests {
    let library: Library

    init() throws { library = try Library() }

    private func look(_ library: Library) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: library.folder + "/state",
            options: MigrationManager.Options(isReadOnly: true)
        )
    }

    @Test func `a pending declaration throws without a connection`() throws {
        func open() throws -> SQLiteConnection {
            Issue.record("opened")
            return library.db
        }
        let look = try look(library)
        let rows = try look.plan { try $0.whenMigrating(toVersion: "1.4", in: try open()) { _ in } }
        #expect(rows.map(\.description) == ["1.4 willRun"])
        #expect(try !look.whenMigrating(toVersion: "1.0", in: try open()) { _ in })
        let error = #expect(throws: MigrationError.self) {
            try look.whenMigrating(toVersion: "1.4", in: try open()) { _ in Issue.record("ran") }
        }
        #expect(error?.code == .readOnly)
        #expect(!FileManager.default.fileExists(atPath: library.folder + "/state"))
    }

    @Test func `a reset removes no row`() throws {
        try library.db.query("CREATE TABLE app_migrations(manager TEXT, version TEXT)")
        try library.db.query("INSERT INTO app_migrations VALUES ('Library', '1.4')")
        let error = #expect(throws: MigrationError.self) {
            try look(library).reset(to: "1.0", in: library.db)
        }
        #expect(error?.code == .readOnly)
        #expect(try library.rows == [["Library", "1.4"]])
    }
}
