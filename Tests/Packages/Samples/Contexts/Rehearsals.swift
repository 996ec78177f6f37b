import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import Testing

/// Also the samples of the doc comments of AppMigrationsTesting.
@Suite struct Rehearsals {
    // Sample 1 of Testing.md

    // Sample 2 of Testing.md

    func rehearsed(_ rehearsal: Rehearsal) throws -> RehearsalReport {
        // Sample 3 of Testing.md
        return report
    }

    func libraryVersion(in folder: URL) throws -> MigrationManager.FirstRun {
        let path = folder.path(percentEncoded: false)
        if exists(path + "/Notes") { return .existingData(at: "1.1") }
        return exists(path + "/notes.txt") ? .existingData(at: "1.0") : .freshInstall
    }

    func restoredNotes(_ fixtures: String) -> StartingPoint {
        // Sample 4 of Testing.md
        return restored
    }

    func oldReleaseThatWrites(_ fixtures: String) -> StartingPoint {
        // Sample 2 of StartingPoint.swift
        return point
    }

    // Sample 1 of Rehearsal.md

    func withOtherDefaults(_ startingPoints: [StartingPoint]) throws -> RehearsalReport {
        // Sample 2 of Rehearsal.md
        return report
    }

    func rules() -> [ComparisonRule] {
        // Sample 5 of Testing.md
        return rules
    }

    func rule() -> ComparisonRule {
        // Sample 1 of SQLiteComparison.swift
        return rule
    }

    func recording(_ startingPoints: [StartingPoint]) -> Rehearsal {
        // Sample 3 of Rehearsal.md
        return rehearsal
    }

    func docComment(_ fixtures: String) throws {
        // Sample 1 of Rehearsal.swift
    }

    struct UpdateTheApp: Error {
        let version: AppVersion
        init(to version: AppVersion) { self.version = version }
    }

    func versionLeft(in defaults: UserDefaults) -> MigrationManager.FirstRun {
        guard let version = defaults.string(forKey: "LastVersion") else { return .freshInstall }
        return .existingData(at: version)
    }

    private let fixtures: String

    init() throws { fixtures = try #require(Bundle.module.resourcePath) + "/Fixtures" }

    @Test func `the doc comment rehearses the library`() throws {
        try docComment(fixtures)
    }

    @Test func `restored notes, and an old release in the middle of an upgrade, end like the others`() throws
    {
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "1.4",
            from: [
                restoredNotes(fixtures), oldReleaseThatWrites(fixtures),
                .version("1.1", copying: fixtures + "/1.1"),
            ]
        )
        let report = try rehearsal.run { try Library(folder: $1).declare($0) }
        #expect(report.findings.allSatisfy { $0.kind == .writtenBetween })
        // 1.4 makes its index from the files, and never looks at `notes.txt`, which 1.0 wrote again.
        #expect(!report.findings.isEmpty)
    }

    @Test func `the detection takes the data of each release for what it is`() throws {
        let report = try rehearsed(
            Rehearsal(
                named: "Library",
                currentVersion: "1.4",
                from: [
                    .version("1.0", copying: fixtures + "/1.0"), .version("1.1", copying: fixtures + "/1.1"),
                    .freshInstall { try Library.create(in: $0) },
                ]
            )
        )
        try report.requireClean()
        #expect(report.runs.filter { $0.title == "asked firstRun" }.count == 3)
    }
}

private typealias Library = Rehearsals.Library

nonisolated extension Rehearsals.Library {
    func start(_ migrations: MigrationManager) throws {
        if let required = migrations.requiredAppVersion {
            throw UpdateTheApp(to: required)
        }
        try declare(migrations)
    }

    typealias UpdateTheApp = Rehearsals.UpdateTheApp

    static func create(in folder: String) throws { try Self(folder: folder).create(["Milk", "Bread"]) }

    func create(_ notes: [String]) throws {
        try FileManager.default.createDirectory(atPath: folder + "/Notes", withIntermediateDirectories: true)
        for (index, note) in notes.enumerated() { try write(note, to: folder + "/Notes/\(index + 1).txt") }
        try writeIndex()
    }

    /// As long as `notes.txt` is there it counts, and is split anew.
    func splitIntoFiles() throws {
        guard exists(folder + "/notes.txt") else { return }
        try create(read(folder + "/notes.txt").split(separator: "\n").map(String.init))
        try FileManager.default.removeItem(atPath: folder + "/notes.txt")
    }

    func writeIndex() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/Notes").sorted()
        let titles = try names.map { try read(folder + "/Notes/\($0)") }
        try write(titles.joined(separator: "\n"), to: folder + "/index.txt")
    }
}

/// A file in the sources, in whose folder records are written; tests run in their package's folder.
private let samplePath = FileManager.default.currentDirectoryPath + "/Fixtures/SchemaTests.swift"

// Sample 1 of SQLRehearsal.md

/// The samples of "Testing your migrations" about SQL, and those of its types' doc comments.
@Suite struct TestingSQLMigrations {
    func startingPoint(_ releases: String) -> StartingPoint {
        // Sample 1 of StartingPoint.swift
        return point
    }

    @Test func `the sample of released migrations passes`() throws {
        let folderOfTheTests = folderOfTheTests + "/Releases"
        // Sample 1 of ReleasedMigrations.swift
    }

    @Test func `the rehearsal's own sample passes`() throws {
        // Sample 1 of SQLRehearsal.swift
        #expect(report.runs.map(\.start) == ["new database", "2.0", "2.1"])
        #expect(report.runs.map(\.ran) == [["1", "2", "3"], ["2", "3"], ["3"]])
    }

    @Test func `the rows of each record are counted`() throws {
        // Sample 2 of SQLRehearsal.md
    }

    private let migrator: SQLiteMigrator

    init() throws {
        migrator = try SQLiteMigrator(SQLiteMigration.files(in: folderOfTheTests + "/Migrations"))
    }
}
