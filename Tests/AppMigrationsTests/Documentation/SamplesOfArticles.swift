import AppMigrations
import Foundation
import Testing

// The samples of the landing page, of the manager and of "Writing migrations", as they stand there.

private func landingPage() throws {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "1.4"
    )
    try migrations.whenMigrating(toVersion: "1.1") {
        try moveArchiveToFolders()
    }
    try migrations.whenMigrating(toVersion: "1.1-2") {
        try renameDrafts()
    }
    try migrations.whenMigrating(toVersion: "1.4") {
        try deleteThumbnails()
    }
    // At every start: a new install runs no closure.
    try database.migrate()
}

private func manager() throws {
    let migrations = try MigrationManager(named: "Library", currentVersion: "1.4")
    try migrations.whenMigrating(toVersion: "1.1-2") { try renameDrafts() }
    try migrations.whenMigrating(toVersion: "1.4") { try deleteThumbnails() }
    // At every start: a new install runs no closure.
    try database.migrate()
}

private func writingMigrations(oldLibrary: String) throws -> MigrationManager {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "3.2",
        firstRun: FileManager.default.fileExists(atPath: oldLibrary)
            ? .existingData(at: "1.0") : .freshInstall
    )
    return migrations
}

private func syncingToDisk(_ migrations: MigrationManager, _ libraryFolder: String) throws {
    try migrations.whenMigrating(toVersion: "1.1") { context in
        try moveArchiveToFolders()
        try context.synchronize(libraryFolder)
    }
}

private let database = Library.Database()
private func moveArchiveToFolders() throws { try Calls.note() }
private func renameDrafts() throws { try Calls.note() }
private func deleteThumbnails() throws { try Calls.note() }

#if !canImport(Darwin)
/// The samples that name no folder, in a process of its own whose default folder is the test's.
@Suite struct FirstSampleTests {
    /// What the samples of the README and of the landing page say of themselves.
    private static func check(hasArchive: Bool = true, _ start: () throws -> Void) throws {
        func calls(_ failing: String? = nil, _ code: MigrationError.Code? = nil) throws -> [String] {
            let calls = Calls(failing: failing)
            if let code {
                let error = try #require(throws: MigrationError.self) { try calls.during(start) }
                #expect(error.code == code)
            } else {
                try calls.during(start)
            }
            return calls.names
        }
        try inDefaultFolder { _ throws in
            #expect(try calls() == ["makeTables"])
            #expect(try calls() == ["makeTables"])
        }
        try inDefaultFolder { _ throws in
            _ = try MigrationManager(named: "Library", currentVersion: "1.1")
            #expect(try calls("renameDrafts", .migrationFailed) == ["renameDrafts"])
            #expect(try calls() == ["renameDrafts", "deleteThumbnails", "makeTables"])
            #expect(try calls() == ["makeTables"])
        }
        try inDefaultFolder { _ throws in
            _ = try MigrationManager(named: "Library", currentVersion: "1.0")
            let rest = ["renameDrafts", "deleteThumbnails", "makeTables"]
            #expect(try calls() == (hasArchive ? ["moveArchiveToFolders"] : []) + rest)
        }
    }

    private static func inDefaultFolder(_ body: (String) throws -> Void) throws {
        try withTemporaryDirectory { folder throws in
            try #require(setenv("XDG_DATA_HOME", folder.path, 1) == 0)
            try body(folder.path)
        }
    }

    @Test func `the README's first sample runs what is new, in order, and a new install nothing`() async {
        await #expect(processExitsWith: .success) {
            try Self.check {
                try migrate(Library(folder: URL(filePath: "/"), appVersion: "", declare: { _ in }))
            }
        }
    }

    @Test func `the landing page's sample runs what is new, in order, and a new install nothing`() async {
        await #expect(processExitsWith: .success) { try Self.check { try landingPage() } }
    }

    @Test func `the manager's sample runs what is new, in order, and a new install nothing`() async {
        await #expect(processExitsWith: .success) { try Self.check(hasArchive: false) { try manager() } }
    }

    @Test func `the old library tells a shipped app from a fresh install`() async {
        await #expect(processExitsWith: .success) {
            for isOld in [true, false] {
                try Self.inDefaultFolder { folder throws in
                    let library = folder + "/library.plist"
                    if isOld { try Data().write(to: URL(filePath: library)) }
                    let migrations = try writingMigrations(oldLibrary: library)
                    #expect(migrations.lastRunVersion.description == (isOld ? "1.0" : "3.2"))
                }
            }
        }
    }
}
#endif

@Suite struct SynchronizingSampleTests {
    @Test func `what can't be synced to disk is not recorded`() throws {
        try withTemporaryDirectory { folder throws in
            _ = try folder.manager("1.0")
            let missing = try #require(throws: MigrationError.self) {
                try syncingToDisk(folder.manager(), folder.path + "/library")
            }
            #expect(missing.code == .migrationFailed)
            let calls = Calls()
            try folder.makeFolder(folder.path + "/library")
            for _ in 1...2 {
                try calls.during { try syncingToDisk(folder.manager(), folder.path + "/library") }
            }
            #expect(calls.names == ["moveArchiveToFolders"])
        }
    }
}
