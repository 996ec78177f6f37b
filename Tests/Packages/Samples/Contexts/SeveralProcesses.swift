import AppMigrations
import Foundation
import Testing

@testable import AppStart

@Suite struct SeveralProcesses {
    // Sample 1 of SeveralProcesses.md

    // Sample 2 of SeveralProcesses.md

    // Sample 3 of SeveralProcesses.md

    /// The state after three processes crashed in migration 1.1.
    private static let crashedThreeTimes = """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.0",
          "launchedVersion" : "1.4",
          "interruption" : {
            "version" : "1.1", "attempts" : 3, "deaths" : 2, "isProtecting" : false, "appVersion" : "1.4",
            "startedAt" : "2026-11-21T03:54:28Z", "failure" : null
          },
          "history" : []
        }
        """

    private func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private func contents(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `an extension leaves everything to the app, and an older one leaves newer data alone`()
        async throws
    {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            try makeFolder(folder + "/Notes")
            try write("", to: folder + "/Notes/a.txt")
            let open = { try openLibraryInExtension(in: container, appVersion: $0) }
            #expect(try open("1.4") == .openTheApp)
            #expect(!exists(folder + "/Migrations"))
            _ = try MigrationManager(
                named: "Library",
                currentVersion: "1.3",
                firstRun: .existingData(at: "1.0"),
                stateDirectory: folder + "/Migrations"
            )
            #expect(try open("1.4") == .openTheApp)
            #expect(try contents(of: folder + "/Notes") == ["a.txt"])
            try await libraryGate(in: container, appVersion: "1.4") { true }.ready()
            #expect(try open("1.4") == .ready)
            #expect(try open("1.3") == .updateTheApp)
        }
    }

    @Test func `an extension waits for no lock while the app creates the state`() async throws {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            _ = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                firstRun: {
                    // The lock is held here.
                    let access = try openLibraryInExtension(in: container, appVersion: "1.4")
                    #expect(access == .openTheApp)
                    return .freshInstall
                }(),
                stateDirectory: folder + "/Migrations"
            )
        }
    }

    @Test func `a migration that crashed too often is left to the app's button`() async throws {
        try await withFolder { folder async throws in
            try makeFolder(folder + "/Migrations")
            let state = folder + "/Migrations/Library.migrations.json"
            try write(Self.crashedThreeTimes, to: state)
            #expect(try openLibraryInExtension(in: URL(filePath: folder), appVersion: "1.4") == .openTheApp)
            #expect(try read(state) == Self.crashedThreeTimes)
        }
    }

    @Test func `what an extension adds is collected once, also after the library has notes`()
        async throws
    {
        try await withFolder { folder async throws in
            let container = URL(filePath: folder)
            try await MainActor.run { try collectInbox(in: container) }
            try makeFolder(folder + "/Notes")
            for note in ["Milk", "Bread"] {
                try addToInbox(note, in: container)
                try await MainActor.run { try collectInbox(in: container) }
            }
            #expect(try contents(of: folder + "/Inbox").isEmpty)
            let notes = try contents(of: folder + "/Notes")
            #expect(try Set(notes.map { try read(folder + "/Notes/" + $0) }) == ["Milk", "Bread"])
        }
    }

    @Test func `the old migrations run before the data moves`() async throws {
        try await withFolder { folder async throws in
            let old = folder + "/old"
            let new = folder + "/new"
            try makeFolder(old + "/Notes")
            for name in ["a", "b", "c"] { try write(name, to: old + "/Notes/\(name).txt") }
            try makeFolder(new + "/Notes/b.md")
            let start = {
                try await groupGate(
                    movingFrom: URL(filePath: old),
                    to: URL(filePath: new),
                    appVersion: "3.2"
                ).ready()
            }
            await #expect(throws: MigrationError.self) { try await start() }
            try FileManager.default.removeItem(atPath: new + "/Notes/b.md")
            for _ in 1...2 { try await start() }
            #expect(try contents(of: old + "/Notes") == [])
            let notes = try contents(of: new + "/Notes")
            #expect(notes == ["a.md", "b.md", "c.md"])
            #expect(try notes.map { try read(new + "/Notes/" + $0) } == ["a", "b", "c"])
        }
    }

    @Test func `on a new phone there is nothing to move`() async throws {
        try await withFolder { folder async throws in
            try await groupGate(
                movingFrom: URL(filePath: folder + "/old"),
                to: URL(filePath: folder + "/new"),
                appVersion: "3.2"
            ).ready()
            #expect(try contents(of: folder + "/new/Notes") == [])
        }
    }
}
