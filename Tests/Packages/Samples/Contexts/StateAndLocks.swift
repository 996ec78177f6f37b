import AppMigrations
import Foundation
import Testing

@testable import AppStart

@Suite struct StateAndLocks {
    /// The state after three processes crashed in migration 1.1.
    private static let crashedThreeTimes = """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.0",
          "launchedVersion" : "1.4",
          "latestAttempt" : {
            "version" : "1.1", "attemptCount" : 3, "crashCount" : 2, "appVersion" : "1.4",
            "startedAt" : "2026-11-21T03:54:28Z", "failure" : null
          },
          "history" : []
        }
        """

    private func open(_ container: URL, _ version: String) throws -> MigrationManager.Readiness {
        try libraryReadiness(in: container, appVersion: version)
    }

    private func startGroup(in folder: String) async throws {
        try await groupGate(
            movingFrom: URL(filePath: folder + "/old"),
            to: URL(filePath: folder + "/new"),
            appVersion: "3.2"
        ) { true }.ready()
    }

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
            #expect(try open(container, "1.4") == .needsMigration)
            #expect(!exists(folder + "/Migrations"))
            _ = try MigrationManager(
                named: "Library",
                currentVersion: "1.3",
                firstRun: .existingData(at: "1.0"),
                stateDirectory: folder + "/Migrations"
            )
            #expect(try open(container, "1.4") == .needsMigration)
            #expect(try contents(of: folder + "/Notes") == ["a.txt"])
            try await libraryGate(in: container, appVersion: "1.4") { true }.ready()
            #expect(try open(container, "1.4") == .ready)
            #expect(try open(container, "1.3") == .needsNewerApp(AppVersion(parsing: "1.4")))
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
                    let access = try open(container, "1.4")
                    #expect(access == .needsMigration)
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
            #expect(try open(URL(filePath: folder), "1.4") == .needsMigration)
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
            for note in notes { try write("from a backup", to: folder + "/Inbox/\(note)") }
            try await MainActor.run { try collectInbox(in: container) }
            #expect(try contents(of: folder + "/Inbox").isEmpty)
            #expect(try Set(notes.map { try read(folder + "/Notes/" + $0) }) == ["Milk", "Bread"])
        }
    }

    @Test func `the old migrations run before the data moves`() async throws {
        try await withFolder { folder async throws in
            try makeFolder(folder + "/old/Notes")
            for name in ["a", "b"] { try write(name, to: folder + "/old/Notes/\(name).txt") }
            try write("theme = blue\n", to: folder + "/old/settings")
            for _ in 1...2 { try await startGroup(in: folder) }
            #expect(try contents(of: folder + "/old") == ["Migrations", "Notes"])
            #expect(try contents(of: folder + "/old/Notes") == [])
            #expect(try contents(of: folder + "/new/Notes") == ["a.md", "b.md"])
            #expect(try read(folder + "/new/settings") == "format = 2\ntheme = blue\n")
            #expect(
                try open(URL(filePath: folder + "/old"), "1.4")
                    == .needsNewerApp(AppVersion(parsing: "3.2"))
            )
        }
    }

    /// A move that was interrupted, and a release without the library that writes before it goes on; and the
    /// same after the move.
    @Test(arguments: [false, true])
    func `what an older release writes in the old folder is moved, and loses no note`(isMoved: Bool)
        async throws
    {
        try await withFolder { folder async throws in
            try makeFolder(folder + "/old/Notes")
            try write("first", to: folder + "/old/Notes/a.md")
            if isMoved {
                try await startGroup(in: folder)
            } else {
                try makeFolder(folder + "/new/Notes")
                try FileManager.default.moveItem(
                    atPath: folder + "/old/Notes/a.md",
                    toPath: folder + "/new/Notes/a.md"
                )
            }
            try write("second", to: folder + "/old/Notes/a.txt")
            try write("theme = blue\n", to: folder + "/new/settings")
            try write("theme = red\n", to: folder + "/old/settings")
            try await startGroup(in: folder)
            let notes = try contents(of: folder + "/new/Notes")
            #expect(try notes.map { try read(folder + "/new/Notes/" + $0) } == ["second", "first"])
            #expect(try read(folder + "/new/settings") == "theme = blue\n")
            #expect(try read(folder + "/new/settings 2") == "format = 2\ntheme = red\n")
        }
    }

    @Test func `on a new phone there is nothing to move, and a locked one is waited for`() async throws {
        try await withFolder { folder async throws in
            let gate = groupGate(
                movingFrom: URL(filePath: folder + "/old"),
                to: URL(filePath: folder + "/new"),
                appVersion: "3.2"
            ) { false }
            for await state in gate.states {
                if case .waitingForUnlock = state { break }
                if case .failed(let error) = state { throw error }
            }
            gate.cancel()
            #expect(!exists(folder + "/new"))
            try await startGroup(in: folder)
            #expect(try contents(of: folder + "/new/Notes") == [])
        }
    }
}
