// Sample 1 of ComingFromMFMigrationManager.md
import AppMigrationsTesting
import Testing

// Sample 2 of ComingFromMFMigrationManager.md

// Sample 3 of ComingFromMFMigrationManager.md

// Sample 4 of ComingFromMFMigrationManager.md

nonisolated func moveNotes(in folder: URL) throws { try rename("notes.txt", to: "notes.md", in: folder) }

nonisolated func moveIndex(in folder: URL) throws { try rename("index.plist", to: "index.json", in: folder) }

nonisolated func makeFiles(in folder: URL) throws {
    for name in ["notes.md", "index.json"] where !exists(path(name, in: folder)) {
        try write("", to: path(name, in: folder))
    }
}

nonisolated func add(_ note: String, in folder: URL) throws {
    try write(note, to: path("notes.md", in: folder))
    try write(note, to: path("index.json", in: folder))
}

private nonisolated func rename(_ old: String, to new: String, in folder: URL) throws {
    guard exists(path(old, in: folder)) else { return }
    try FileManager.default.moveItem(atPath: path(old, in: folder), toPath: path(new, in: folder))
}

private nonisolated func path(_ name: String, in folder: URL) -> String {
    folder.appending(path: name).path(percentEncoded: false)
}

nonisolated func declare(_ folder: String) throws {
    func moveNotes() throws { try Samples.moveNotes(in: URL(filePath: folder)) }
    func makeDatabase() throws { try moveIndex(in: URL(filePath: folder)) }
    // Sample 1 of LegacyManager.swift
}

@Suite(.serialized) struct ComingFromMFMigrationManager {
    // Sample 5 of ComingFromMFMigrationManager.md

    private let key = "MFMigrationManagerLastVersionKey-Library"

    /// Starts 4.0 where `left` is in the user defaults, and returns what is there afterwards.
    private func start(after left: String?, in folder: String) async throws -> String? {
        UserDefaults.standard.set(left, forKey: key)
        defer { UserDefaults.standard.removeObject(forKey: key) }
        let gate = libraryGate(in: URL(filePath: folder), appVersion: "4.0", isUnlocked: { true })
        try await gate.ready()
        return UserDefaults.standard.string(forKey: key)
    }

    @Test(arguments: [nil, "2.0", "3.1-1", "3.5"])
    func `every phone has the files of the newest release, and its key`(left: String?) async throws {
        try await withFolder { folder async throws in
            if left != nil {
                try write("Milk", to: folder + (left == "2.0" ? "/notes.txt" : "/notes.md"))
                try write("1", to: folder + "/index.plist")
            }
            #expect(try await start(after: left, in: folder) == (left == "3.5" ? "3.5" : "3.1-1"))
            #expect(try read(folder + "/notes.md") == (left == nil ? "" : "Milk"))
            #expect(try read(folder + "/index.json") == (left == nil ? "" : "1"))
        }
    }

    @Test func `the sample of the comment migrates`() async throws {
        UserDefaults.standard.set("3.0", forKey: key)
        defer { UserDefaults.standard.removeObject(forKey: key) }
        try await withFolder { folder async throws in
            try write("Milk", to: folder + "/notes.txt")
            try declare(folder)
            #expect(try read(folder + "/notes.md") == "Milk")
        }
    }

    @Test func `betas, younger managers and a lost state continue where the guide says`() async throws {
        #expect(try oldLibraryWithBetas().lastRunVersion == nil)
        UserDefaults.standard.set("3.0b2", forKey: key)
        defer { UserDefaults.standard.removeObject(forKey: key) }
        let library = try oldLibraryWithBetas()
        #expect(try library.lastRunVersion?.description == "2.1")
        #expect(throws: LegacyDefaultsError.self) { try oldLibrary().lastRunVersion }
        try await withFolder { folder async throws in
            let search = try LegacyManager(
                of: .mfMigrationManager(named: "Search"),
                lastRelease: "3.5",
                in: .file(at: folder + "/defaults.plist")
            )
            #expect(
                try searchFirstRun(search, library: library, isUnlocked: true) == .existingData(at: "1.4")
            )
            #expect(try searchFirstRun(search, library: search, isUnlocked: true) == .freshInstall)
            let url = URL(filePath: folder)
            #expect(
                try libraryFirstRun(in: url, old: library, isUnlocked: true) == .existingData(at: "2.1")
            )
            try makeFiles(in: url)
            #expect(
                try libraryFirstRun(in: url, old: library, isUnlocked: true) == .existingData(at: "4.0")
            )
        }
    }
}
