import AppMigrations
import Foundation
import Synchronization
import Testing

@Suite struct SeveralProcesses {
    // Sample 1 of SeveralProcesses.md

    // Sample 2 of SeveralProcesses.md

    // Sample 3 of SeveralProcesses.md

    let calls = Calls()

    /// The state after three processes crashed in migration 2.0.
    private static let crashedThreeTimes = """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.0",
          "launchedVersion" : "3.2",
          "interruption" : {
            "version" : "2.0", "attempts" : 3, "deaths" : 2, "isProtecting" : false, "appVersion" : "3.2",
            "startedAt" : "2026-11-21T03:54:28Z", "failure" : null
          },
          "history" : []
        }
        """

    nonisolated func libraryVersion(in folder: URL) throws -> MigrationManager.FirstRun {
        .existingData(at: "1.0")
    }
    nonisolated func exists(_ file: URL) -> Bool {
        FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
    }
    nonisolated func prepareLibrary(_ migrations: MigrationManager, in folder: URL) throws {
        calls.add("prepareLibrary")
    }
    nonisolated func declareLibrary(_ migrations: MigrationManager, in folder: URL) throws {
        try migrations.whenMigrating(toVersion: "2.0") { calls.add("moveToAppGroup") }
        try migrations.whenMigrating(toVersion: "3.2", minimumAppVersion: "3.0") {
            calls.add("renameDrafts")
        }
    }

    @Test func `an extension leaves the update to the app, and an older one leaves newer data alone`()
        async throws
    {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            let open = { try openLibraryInExtension(in: container, appVersion: $0) }
            #expect(try open("3.2") == .openTheApp)
            #expect(calls.take() == [])
            let app = try MigrationManager(
                named: "Library",
                currentVersion: "3.2",
                stateDirectory: folder + "/Migrations"
            )
            try declareLibrary(app, in: container)
            #expect(calls.take() == ["moveToAppGroup", "renameDrafts"])
            #expect(try open("3.2") == .ready)
            #expect(calls.take() == ["prepareLibrary"])
            #expect(try open("2.0") == .updateTheApp)
            #expect(calls.take() == [])
        }
    }

    @Test func `what an extension adds is collected once, also after the library has notes`() async throws {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            try collectInbox(in: container)
            try FileManager.default.createDirectory(
                atPath: folder + "/Notes",
                withIntermediateDirectories: true
            )
            for note in ["Milk", "Bread"] {
                try addToInbox(note, in: container)
                try collectInbox(in: container)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/Inbox").isEmpty)
            let notes = try FileManager.default.contentsOfDirectory(atPath: folder + "/Notes")
            #expect(try Set(notes.map { try read(folder + "/Notes/" + $0) }) == ["Milk", "Bread"])
        }
    }

    @Test func `a migration that crashed too often is left to the app's button`() async throws {
        try await withFolder { folder async throws in
            try FileManager.default.createDirectory(
                atPath: folder + "/Migrations",
                withIntermediateDirectories: true
            )
            try write(Self.crashedThreeTimes, to: folder + "/Migrations/Library.migrations.json")
            #expect(try openLibraryInExtension(in: URL(filePath: folder), appVersion: "3.2") == .openTheApp)
            #expect(calls.take() == [])
        }
    }

    @Test func `an extension doesn't wait for an app that creates the state`() async throws {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            _ = try MigrationManager(
                named: "Library",
                currentVersion: "3.2",
                firstRun: {
                    // The lock is held here.
                    let extensions = OperationQueue()
                    let access = Mutex<LibraryAccess?>(nil)
                    extensions.addOperation {
                        do {
                            let answer = try openLibraryInExtension(in: container, appVersion: "3.2")
                            access.withLock { $0 = answer }
                        } catch {
                            Issue.record(error)
                        }
                    }
                    extensions.waitUntilAllOperationsAreFinished()
                    #expect(access.withLock(\.self) == .openTheApp)
                    return .freshInstall
                }(),
                stateDirectory: folder + "/Migrations"
            )
        }
    }

    @Test func `a state that moves goes on where the old one is, and an interrupted one stays`() async throws
    {
        try await withFolder { folder async throws in
            let old = URL(filePath: folder + "/old")
            let new = folder + "/new"
            let open = { (place: String, version: String) in
                try MigrationManager(
                    named: "Library",
                    currentVersion: version,
                    firstRun: place == new
                        ? versionBeforeMove(from: old, appVersion: version) : .existingData(at: "1.0"),
                    stateDirectory: place + "/Migrations"
                )
            }
            // Without an old state the data itself answers.
            #expect(try versionBeforeMove(from: old, appVersion: "3.2") == .existingData(at: "1.0"))
            try open(folder + "/old", "2.0").whenMigrating(toVersion: "2.0") {}
            let migrations = try open(new, "3.2")
            #expect(try migrations.lastRunVersion == AppVersion(parsing: "2.0"))
            try declareLibrary(migrations, in: old)
            #expect(calls.take() == ["renameDrafts"])
            let failing = try open(folder + "/old", "2.1")
            #expect(throws: MigrationError.self) {
                try failing.whenMigrating(toVersion: "2.1") { throw Calls.Failure() }
            }
            #expect(throws: MoveRefused.self) { try versionBeforeMove(from: old, appVersion: "3.2") }
        }
    }
}
