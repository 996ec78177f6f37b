import AppMigrationsLegacy
import AppMigrationsTesting
import Foundation
import Testing

@testable import LegacyStart

// Sample 1 of ComingFromMFMigrationManager.md

// Sample 2 of ComingFromMFMigrationManager.md

nonisolated func oldSearch(
    in defaults: LegacyManager.Defaults = .standard
) throws -> LegacyManager {
    try LegacyManager(
        of: .mfMigrationManager(named: "Search"),
        lastRelease: "3.5",
        in: defaults
    )
}

// A phone that skipped 1.5 to 3.5 has no keys of Search. If it has
// a library, its search data is at 1.4.
nonisolated func searchFirstRun(
    in folder: URL,
    old: LegacyManager,
    library: LegacyManager,
    isUnlocked: Bool
) throws -> MigrationManager.FirstRun {
    try old.firstRun(
        isUnlocked: isUnlocked,
        withoutKeys: libraryFirstRun(
            in: folder,
            old: library,
            isUnlocked: isUnlocked
        ) == .freshInstall
            ? .freshInstall : .existingData(at: "1.4")
    )
}

nonisolated func declareSearch(
    _ migrations: MigrationManager,
    in folder: URL,
    old: LegacyManager
) throws {
    try migrations.whenMigrating(
        toVersion: "3.1",
        unlessRunBy: old
    ) {
        try makeSearchIndex(in: folder)
    }
}

nonisolated func appGate(
    in folder: URL,
    appVersion: String,
    isUnlocked: @escaping @Sendable () async -> Bool
) -> MigrationGate {
    MigrationGate { attempt in
        let isUnlocked = await isUnlocked()
        let oldLibrary = try oldLibrary()
        let oldSearch = try oldSearch()
        func manager(
            named name: String,
            firstRun:
                @autoclosure () throws
                -> MigrationManager.FirstRun
        ) throws -> MigrationManager {
            let migrations = try MigrationManager(
                named: name,
                currentVersion: appVersion,
                firstRun: firstRun(),
                stateDirectory: folder.appending(path: "Migrations")
                    .path(percentEncoded: false),
                options: attempt.options(.init(attemptLimit: 3))
            )
            if attempt.isRetry { try migrations.resetAttempts() }
            return migrations
        }
        // Create both before the first declaration.
        let library = try manager(
            named: "Library",
            firstRun: libraryFirstRun(
                in: folder,
                old: oldLibrary,
                isUnlocked: isUnlocked
            )
        )
        let search = try manager(
            named: "Search",
            firstRun: searchFirstRun(
                in: folder,
                old: oldSearch,
                library: oldLibrary,
                isUnlocked: isUnlocked
            )
        )
        // Nothing runs in a plan. The progress bar covers both.
        try attempt.plan(library) {
            try declareLibrary($0, in: folder, old: oldLibrary)
        }
        try attempt.plan(search) {
            try declareSearch($0, in: folder, old: oldSearch)
        }
        try declareLibrary(library, in: folder, old: oldLibrary)
        try declareSearch(search, in: folder, old: oldSearch)
        try library.withLock { try makeFiles(in: folder) }
    }
}

nonisolated func libraryFirstRun(
    in folder: URL,
    old: LegacyManager,
    isUnlocked: Bool
) throws -> MigrationManager.FirstRun {
    let index = folder.appending(path: "index.json")
        .path(percentEncoded: false)
    return FileManager.default.fileExists(atPath: index)
        ? .existingData(at: "4.0")
        : try old.firstRun(
            isUnlocked: isUnlocked,
            withoutKeys: hasLibrary(in: folder)
                ? .existingData(at: "1.0") : .freshInstall
        )
}

nonisolated func declareHotfix(
    _ migrations: MigrationManager,
    in folder: URL
) throws {
    // Users of 4.0 get it, too. 3.5.1 may have run it already.
    try migrations.whenMigrating(
        toVersion: "3.5.1",
        addedIn: "4.0.1"
    ) {
        try removeEmptyNotesIfAny(in: folder)
    }
}

nonisolated func makeSearchIndex(in folder: URL) throws {
    try write("3.1", to: folder.appending(path: "search").path(percentEncoded: false))
}

nonisolated func trimNotes(at file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    try text.trimmingCharacters(in: .whitespaces).write(to: file, atomically: true, encoding: .utf8)
}

nonisolated func add(_ note: String, in folder: URL) throws {
    try write(note, to: folder.appending(path: "notes.md").path(percentEncoded: false))
    try write(note, to: folder.appending(path: "index.json").path(percentEncoded: false))
}

nonisolated func declare(_ folder: String) throws {
    func moveNotes() throws { try LegacyStart.moveNotes(in: URL(filePath: folder)) }
    func makeDatabase() throws { try moveIndex(in: URL(filePath: folder)) }
    // Sample 1 of LegacyManager.swift
}

@Suite(.serialized) struct ComingFromMFMigrationManager {
    @Test func `every user of the library gets to 4.0`() throws {
        func old(in folder: String) throws -> LegacyManager {
            try oldLibrary(in: .file(at: folder + "/defaults.plist"))
        }
        let resources = try #require(Bundle.module.resourcePath)
        let fixtures = resources + "/Fixtures/Legacy"
        // Without keys, the data of each release is recognized.
        for version in ["2.0", "3.5"] {
            let folder = URL(filePath: fixtures + "/" + version)
            #expect(try hasLibrary(in: folder))
        }
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: "4.0",
            from: [
                .version("2.0", copying: fixtures + "/2.0"),
                .version("3.5", copying: fixtures + "/3.5"),
                .freshInstall { folder in
                    try makeFiles(in: URL(filePath: folder))
                    try add("Milk", in: URL(filePath: folder))
                },
            ],
            // The file also has other keys of the app. They differ.
            comparing: [.ignoring("defaults.plist")]
        )
        let report = try rehearsal.run(
            firstRun: {
                try libraryFirstRun(
                    in: URL(filePath: $0),
                    old: old(in: $0),
                    isUnlocked: true
                )
            },
            before: "4.0"
        ) { migrations, folder in
            let old = try old(in: folder)
            let url = URL(filePath: folder)
            try declareLibrary(migrations, in: url, old: old)
            // Users who go back to 3.5 need this key.
            if "\(migrations.lastRunVersion)" == "4.0" {
                let left = try #require(try old.lastRunVersion)
                #expect(try left >= AppVersion(parsing: "3.1-1"))
            }
        }
        try report.requireClean()
    }

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

    @Test func `without keys and with data, everything runs, and data of today stays as it is`()
        async throws
    {
        for name in ["notes.txt", "notes.md"] {
            try await withFolder { folder async throws in
                try write("Milk", to: "\(folder)/\(name)")
                try write("1", to: folder + (name == "notes.txt" ? "/index.plist" : "/index.json"))
                #expect(try await start(after: nil, in: folder) == "3.1-1")
                #expect(try read(folder + "/notes.md") == "Milk")
                #expect(try read(folder + "/index.json") == "1")
            }
        }
    }

    /// Starts both managers of 4.0, and returns the keys afterwards.
    private func startBoth(library: String?, search: String?, in folder: String) async throws -> [String?] {
        let keys = [key, "MFMigrationManagerLastVersionKey-Search"]
        for (key, left) in zip(keys, [library, search]) { UserDefaults.standard.set(left, forKey: key) }
        defer { for key in keys { UserDefaults.standard.removeObject(forKey: key) } }
        try await appGate(in: URL(filePath: folder), appVersion: "4.0", isUnlocked: { true }).ready()
        return keys.map { UserDefaults.standard.string(forKey: $0) }
    }

    @Test(
        arguments: [
            // A new phone, and one whose preferences file is damaged.
            (library: nil, search: nil, hasData: false, runs: false),
            (library: nil, search: nil, hasData: true, runs: true),
            // A phone that skipped the releases with Search.
            (library: "1.4", search: nil, hasData: true, runs: true),
            (library: "3.1-1", search: "3.0", hasData: true, runs: true),
            (library: "3.1-1", search: "3.1", hasData: true, runs: false),
        ] as [(library: String?, search: String?, hasData: Bool, runs: Bool)]
    )
    func `a gate with two managers continues each of them`(
        library: String?,
        search: String?,
        hasData: Bool,
        runs: Bool
    ) async throws {
        try await withFolder { folder async throws in
            if hasData { try write("Milk", to: folder + "/notes.md") }
            #expect(try await startBoth(library: library, search: search, in: folder) == ["3.1-1", "3.1"])
            #expect(exists(folder + "/search") == runs)
            #expect(try read(folder + "/notes.md") == (hasData ? "Milk" : ""))
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

    @Test func `a file of an old release is replaced, and its key follows`() async throws {
        try await withFolder { folder async throws in
            try write(" Milk ", to: folder + "/notes.txt")
            let old = try oldLibrary(in: .file(at: folder + "/defaults.plist"))
            let migrations = try MigrationManager(
                named: "Library",
                currentVersion: "4.0",
                firstRun: .existingData(at: "2.0"),
                stateDirectory: folder + "/Migrations"
            )
            try declareArchive(migrations, in: URL(filePath: folder), old: old)
            #expect(try read(folder + "/notes.txt") == "Milk")
            #expect(try old.lastRunVersion?.description == "3.1")
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
            let url = URL(filePath: folder)
            let firstRun = { try searchFirstRun(in: url, old: search, library: $0, isUnlocked: true) }
            #expect(try firstRun(library) == .existingData(at: "1.4"))
            #expect(try firstRun(search) == .freshInstall)
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
