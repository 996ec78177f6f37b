import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import Testing

// The samples of "Testing your migrations" about SQL, as they stand there; the tests run.

/// The folder in the sources, in which records are written.
private let folderOfTheTests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Fixtures").path(percentEncoded: false)

@Suite(.serialized) struct SchemaTests {
    @Test func `every released schema gets to the newest`() throws {
        let migrator = try SQLiteMigrator(
            SQLiteMigration.files(
                in: folderOfTheTests + "/Migrations"
            )
        )
        let rehearsal = SQLRehearsal(
            of: migrator,
            releasesIn: folderOfTheTests + "/Releases"
        )
        let environment = ProcessInfo.processInfo.environment
        if let release = environment["RECORD_RELEASE"] {
            try rehearsal.record(release) {
                try SQLiteConnection(path: ":memory:")
            }
        }
        let report = try rehearsal.run {
            try SQLiteConnection(path: ":memory:")
        }
        try report.requireClean()
    }
}

struct FolderTests {
    @Test func `the folder of the tests is the one of their source`() throws {
        let folderOfTheTests = URL(filePath: #filePath)
            .deletingLastPathComponent().path(percentEncoded: false)
        let names = try FileManager.default.contentsOfDirectory(atPath: folderOfTheTests)
        #expect(names.contains("SamplesOfSQLTesting.swift"))
    }
}

struct ReleasedMigrationTests {
    private let migrator: SQLiteMigrator
    /// The ledger has the second in which a migration was applied, so the bytes of two runs can differ.
    private let rules: [ComparisonRule] = [
        .comparing("library.sqlite", by: SQLiteComparison().difference)
    ]

    init() throws {
        migrator = try SQLiteMigrator(SQLiteMigration.files(in: folderOfTheTests + "/Migrations"))
    }

    @Test func `no released migration was changed`() throws {
        let lock = SQLMigrationLock(
            file: folderOfTheTests + "/Releases/migrations.lock"
        )
        #expect(try lock.findings(in: migrator).isEmpty)
    }

    @Test func `a rehearsal of files begins with a recorded schema`() throws {
        let point = StartingPoint.schema(
            "2.1",
            recordedIn: folderOfTheTests + "/Releases/2.1.sql"
        ) {
            folder in
            try SQLiteConnection(path: folder + "/library.sqlite")
        }
        let report = try Rehearsal(currentVersion: "2.2", from: [point], comparing: rules).run {
            migrations,
            folder in
            try migrations.whenMigrating(toVersion: "2.2") {
                try migrator.migrate(SQLiteConnection(path: folder + "/library.sqlite"))
            }
        }
        try report.requireClean()
        #expect(report.runs.count > 2)
    }

    @Test func `the records that are kept are those that the command wrote`() throws {
        let rehearsal = SQLRehearsal(of: migrator, releasesIn: folderOfTheTests + "/Releases")
        let report = try rehearsal.run { try SQLiteConnection(path: ":memory:") }
        #expect(report.runs.map(\.start) == ["new database", "2.0", "2.1"])
        #expect(report.runs.map(\.ran) == [[1, 2, 3], [2, 3], [3]])
    }

    @Test func `the rehearsal's own sample is clean, and finds a migration that is missing`() throws {
        func rehearse(_ migrator: SQLiteMigrator) throws {
            let rehearsal = SQLRehearsal(of: migrator, releasesIn: folderOfTheTests + "/Releases")
            let report = try rehearsal.run { try SQLiteConnection(path: ":memory:") }
            try report.requireClean()
        }
        try rehearse(migrator)
        let shortened = try SQLiteMigrator(Array(migrator.migrations.dropLast(2)))
        #expect(throws: (any Error).self) { try rehearse(shortened) }
    }

    @Test func `the lock's own sample finds nothing, and an edited migration`() throws {
        let folderOfTheTests = folderOfTheTests + "/Releases"
        let lock = SQLMigrationLock(file: folderOfTheTests + "/migrations.lock")
        #expect(try lock.findings(in: migrator).isEmpty)
        let edited = try SQLiteMigrator(
            SQLiteMigration.numbered(["CREATE TABLE edited(x)"]) + migrator.migrations.dropFirst()
        )
        #expect(try lock.findings(in: edited).count == 1)
    }

    @Test func `the starting point's own sample begins with the recorded schema`() throws {
        let releases = folderOfTheTests + "/Releases"
        let points: [StartingPoint] = [
            .schema("2.1", recordedIn: releases + "/2.1.sql") {
                try SQLiteConnection(path: $0 + "/library.sqlite")
            }
        ]
        let report = try Rehearsal(currentVersion: "2.2", from: points, comparing: rules).run {
            migrations,
            folder in
            try migrations.whenMigrating(toVersion: "2.2") {
                let db = try SQLiteConnection(path: folder + "/library.sqlite")
                #expect(try migrator.status(db).applied == [1, 2] || migrator.status(db).pending.isEmpty)
                try migrator.migrate(db)
            }
        }
        try report.requireClean()
    }
}
