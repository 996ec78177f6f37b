import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import TestSupport
import Testing
import XCTest

// The samples of "Testing your migrations", as they stand there; the tests run.

struct Library {
    let folder: String

    func declare(_ migrations: MigrationManager) throws {
        try migrations.whenMigrating(toVersion: "1.1") {
            try splitIntoFiles()
        }
        try migrations.whenMigrating(toVersion: "1.4") {
            try writeIndex()
        }
    }
}

extension Library {
    func start(_ migrations: MigrationManager) throws {
        if let required = migrations.requiredVersion {
            throw UpdateTheApp(to: required)
        }
        try declare(migrations)
    }
}

private struct UpdateTheApp: Error {
    let version: AppVersion

    init(to version: AppVersion) { self.version = version }
}

func libraryVersion(
    in folder: String
) -> MigrationManager.FirstRun {
    let files = FileManager.default
    if files.fileExists(atPath: folder + "/Notes") {
        return .existingData(at: "1.1")
    }
    if files.fileExists(atPath: folder + "/notes.txt") {
        return .existingData(at: "1.0")
    }
    return .freshInstall
}

func rehearsed(_ rehearsal: Rehearsal) throws -> RehearsalReport {
    try rehearsal.run(
        firstRun: libraryVersion,
        before: "1.4"
    ) { manager, folder in
        try Library(folder: folder).declare(manager)
    }
}

struct UpgradeTests {
    @Test func `every user of the library gets to 1.4`() throws {
        let resources = try #require(Bundle.module.resourcePath)
        let fixtures = resources + "/Fixtures"
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "1.4",
            from: [
                .version("1.0", copying: fixtures + "/1.0"),
                .version("1.1", copying: fixtures + "/1.1"),
                .freshInstall { folder in
                    let library = Library(folder: folder)
                    try library.create(["Milk", "Bread"])
                },
            ]
        )
        let report = try rehearsal.run { migrations, folder in
            try Library(folder: folder).declare(migrations)
        }
        try report.requireClean()
    }
}

final class UpgradeTestCase: XCTestCase {
    func testEveryUserOfTheLibraryGetsTo1_4() throws {
        let old = StartingPoint.version("1.0") { folder in
            try Data("Milk\nBread\n".utf8).write(
                to: URL(filePath: folder + "/notes.txt")
            )
        }
        let report = try Rehearsal(
            named: "Library",
            currentVersion: "1.4",
            from: [old]
        )
        .run { migrations, folder in
            try Library(folder: folder).declare(migrations)
        }
        try report.requireClean()
    }
}

struct RulesAndRecordTests {
    @Test func `the rules of the article keep what differs by nature out of the comparison`() throws {
        let rules: [ComparisonRule] = [
            .ignoring("Caches"),
            .normalizing("**.json") { bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                return Array(
                    text.replacing(/"changed" : "[^"]*"/, with: "").utf8
                )
            },
            .comparing(
                "**.sqlite",
                by: SQLiteComparison(ignoring: ["note.changed_at"])
                    .difference
            ),
            .ignoring("**.sqlite-*"),
        ]
        func data(_ number: Int) -> @Sendable (String) throws -> Void {
            { folder in
                try append("\(number)", to: "Caches", in: folder)
                try append(#"{ "changed" : "\#(number)" }"#, to: "note.json", in: folder)
                try SQLiteConnection(path: path("note.sqlite", in: folder)).execute(
                    script: "CREATE TABLE note (changed_at); INSERT INTO note VALUES (\(number))"
                )
            }
        }
        let rehearsal = Rehearsal(
            currentVersion: "1.1",
            from: [.version("1.0", making: data(1)), .version("1.1", making: data(2))],
            comparing: rules
        )
        try rehearsal.run { migrations, _ in try migrations.whenMigrating(toVersion: "1.1") {} }
            .requireClean()
    }

    @Test func `the comparison's own sample leaves a column out`() throws {
        let rules: [ComparisonRule] = [
            .comparing("**.sqlite", by: SQLiteComparison(ignoring: ["notes.changed_at"]).difference)
        ]
        func data(_ title: String, _ time: Int) -> @Sendable (String) throws -> Void {
            { folder in
                try SQLiteConnection(path: path("notes.sqlite", in: folder)).execute(
                    script:
                        "CREATE TABLE notes (title, changed_at); INSERT INTO notes VALUES ('\(title)', \(time))"
                )
            }
        }
        func findings(_ title: String) throws -> Int {
            let points = [
                StartingPoint.version("1.0", making: data("one", 1)), .version("1.1", making: data(title, 2)),
            ]
            return try Rehearsal(currentVersion: "1.1", from: points, comparing: rules)
                .run { migrations, _ in try migrations.whenMigrating(toVersion: "1.1") {} }.findings.count
        }
        #expect(try findings("one") == 0)
        #expect(try findings("two") > 0)
    }

    @Test func `the rehearsal's own sample rehearses the library`() throws {
        let fixtures = try #require(Bundle.module.resourcePath) + "/Fixtures"
        let rehearsal = Rehearsal(
            currentVersion: "1.4",
            from: [
                .version("1.0", copying: fixtures + "/1.0"),
                .freshInstall { folder in try Library.create(in: folder) },
            ]
        )
        let report = try rehearsal.run { migrations, folder in
            try Library(folder: folder).declare(migrations)
        }
        try report.requireClean()
        #expect(Set(report.runs.map(\.start)).count == 2)
    }

    @Test func `a start below the floor asks for the update, and touches nothing`() throws {
        try withTemporaryFolder { folder throws in
            let state = folder + "/state"
            let newer = try MigrationManager(
                currentVersion: "1.5",
                firstRun: .everything,
                stateDirectory: state
            )
            try newer.whenMigrating(toVersion: "1.5", oldestReader: "1.5") {}
            try write("Milk\n", to: "notes.txt", in: folder)
            let library = Library(folder: folder)
            let older = try MigrationManager(currentVersion: "1.4", stateDirectory: state)
            let error = try #require(throws: UpdateTheApp.self) { try library.start(older) }
            #expect(error.version == AppVersion("1.5"))
            #expect(try read("notes.txt", in: folder) == "Milk\n")
        }
    }

    @Test func `the record of the article is made by the first rehearsal`() throws {
        try withTemporaryFolder { folderOfTheTests throws in
            let startingPoints = [
                StartingPoint.version("1.0") { try write("Milk\n", to: "notes.txt", in: $0) }
            ]
            let rehearsal = Rehearsal(
                named: "Library",
                currentVersion: "1.4",
                from: startingPoints,
                recordingVersionsIn: folderOfTheTests + "/versions.txt"
            )
            try rehearsal.run { try Library(folder: $1).declare($0) }.requireClean()
            #expect(try read("versions.txt", in: folderOfTheTests) == "1.1\n1.4\n")
        }
    }

    @Test func `the landing page's sample rehearses the library`() throws {
        let fixtures = try #require(Bundle.module.resourcePath) + "/Fixtures"
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "1.4",
            from: [
                .version("1.0", copying: fixtures + "/1.0"),
                .version("1.1", copying: fixtures + "/1.1"),
            ]
        )
        let report = try rehearsal.run { migrations, folder in
            try Library(folder: folder).declare(migrations)
        }
        try report.requireClean()
    }
}

extension Library {
    static func create(in folder: String) throws { try Library(folder: folder).create(["Milk", "Bread"]) }

    func create(_ notes: [String]) throws {
        try FileManager.default.createDirectory(atPath: folder + "/Notes", withIntermediateDirectories: true)
        for (index, note) in notes.enumerated() {
            try write(note, to: "Notes/\(index + 1).txt", in: folder)
        }
        try writeIndex()
    }

    /// As long as `notes.txt` is there it counts, and is split anew.
    private func splitIntoFiles() throws {
        guard exists("notes.txt", in: folder) else { return }
        try FileManager.default.createDirectory(atPath: folder + "/Notes", withIntermediateDirectories: true)
        for (index, note) in try read("notes.txt", in: folder).split(separator: "\n").enumerated() {
            try write(String(note), to: "Notes/\(index + 1).txt", in: folder)
        }
        try FileManager.default.removeItem(atPath: folder + "/notes.txt")
    }

    private func writeIndex() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/Notes").sorted()
        let titles = try names.map { try read("Notes/\($0)", in: folder) }
        try write(titles.joined(separator: "\n"), to: "index.txt", in: folder)
    }
}

@Suite struct SamplesOfFirstRun {
    @Test func `the sample's detection takes the data of each release for what it is`() throws {
        let fixtures = try #require(Bundle.module.resourcePath) + "/Fixtures"
        let report = try rehearsed(
            Rehearsal(
                named: "Library",
                currentVersion: "1.4",
                from: [
                    .version("1.0", copying: fixtures + "/1.0"), .version("1.1", copying: fixtures + "/1.1"),
                    .freshInstall { folder in try Library(folder: folder).create(["Milk", "Bread"]) },
                ]
            )
        )
        try report.requireClean()
        #expect(report.runs.filter { $0.title == "asked firstRun" }.count == 3)
    }
}
