import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import Testing

/// The folder in the sources, in which records are written; tests run in their package's folder.
private let folderOfTheTests = FileManager.default.currentDirectoryPath + "/Fixtures"

/// The samples of "Testing your migrations" about SQL, and those of its types' doc comments.
@Suite struct TestingSQLMigrations {
    // Sample 1 of SQLRehearsal.md

    func startingPoint(_ releases: String) -> StartingPoint {
        // Sample 1 of StartingPoint.swift
        return point
    }

    @Test func `the lock's own sample passes`() throws {
        let folderOfTheTests = folderOfTheTests + "/Releases"
        // Sample 1 of SQLMigrationLock.swift
    }

    @Test func `the rehearsal's own sample passes`() throws {
        // Sample 1 of SQLRehearsal.swift
        #expect(report.runs.map(\.start) == ["new database", "2.0", "2.1"])
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["2", "3"], ["3"]])
    }

    private let migrator: SQLiteMigrator

    init() throws {
        migrator = try SQLiteMigrator(SQLiteMigration.files(in: folderOfTheTests + "/Migrations"))
    }
}
