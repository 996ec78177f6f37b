import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct ComingFrom {
    // Sample 1 of ComingFromMFMigrationManager.md

    // Sample 2 of ComingFromMFMigrationManager.md

    // Sample 1 of ComingFromSModel.md

    @MainActor final class LibraryDelegate {
        var versions = [String]()
        func didMigrate(to version: AppVersion, of name: String?) {
            versions.append("\(name ?? "") \(version)")
        }
    }

    func moveNotes(_ folder: URL) throws { try calls.note("3.1-1") }
    func moveIndex(_ folder: URL) throws { try calls.note("3.1") }
    func makeDatabase(_ folder: URL) throws { try calls.note("4.0") }
    func makeFiles(_ folder: URL) throws { try calls.note("new") }
    let calls = Calls()

    @MainActor @Test func `a delegate of the main actor is told of each migration`() async throws {
        let delegate = LibraryDelegate()
        let tell = telling(delegate)
        tell("Library", try version("1.1"))
        while delegate.versions.isEmpty { await Task.yield() }
        #expect(delegate.versions == ["Library 1.1"])
    }

    @Test(arguments: ["Library", nil])
    func `the old library finds its own version after a start of a new release`(name: String?) async throws {
        for end in name == nil ? ["", "-(null)"] : ["-Library"] {
            let left = ["MFMigrationManagerInitialVersionKey\(end)": "1.0"]
            try await withDefaults(left) { suite, folder in
                try manager(name, suite).writeBack(version("1.3"))
                try manager(name, suite).writeBack(version("1.1"))
                let migrations = try start("1.5", in: folder, suite, by: name) { _ in }
                #expect(migrations.lastRunVersion.description == "1.3")
            }
        }
    }

    @Test func `a new phone runs nothing, and an old one of Library alone what lies after`() async throws {
        let cases: [(String?, [String])] = [
            (nil, []), ("1.4", ["3.1", "3.1-1", "4.0"]), ("3.1", ["3.1", "3.1-1", "4.0"]),
        ]
        for (left, ran) in cases {
            let keys = left.map { ["MFMigrationManagerLastVersionKey-Library": $0] } ?? [:]
            try await withDefaults(keys) { suite, folder in
                for isFirst in [true, false] {
                    try await gate(folder, suite).ready()
                    #expect(calls.take() == (isFirst ? ran : []) + ["new"])
                }
                let defaults = try #require(UserDefaults(suiteName: suite))
                let written = ["Library", "Search"].map {
                    defaults.string(forKey: "MFMigrationManagerLastVersionKey-\($0)")
                }
                #expect(written == ["3.1-1", "3.1"])
            }
        }
    }

    @Test func `a start that dies between two managers makes no old phone of a new one`() async throws {
        try await withDefaults([:]) { suite, folder in
            let search = try manager("Search", suite)
            _ = try start("4.0", in: folder + "/Migrations", suite, by: "Search", named: "Search") { _ in }
            search.writeBack(try version("4.0"))
            try await gate(folder, suite).ready()
            #expect(calls.take() == ["new"])
        }
    }

    @Test func `a step that an older release has run meanwhile is recorded without running`() async throws {
        let key = "MFMigrationManagerLastVersionKey-Library"
        try await withDefaults([key: "1.1", "MFMigrationManagerLastVersionKey-Search": "3.1"]) {
            suite,
            folder in
            let defaults = try #require(UserDefaults(suiteName: suite))
            let gate = gate(folder, suite)
            calls.fail(at: "3.1-1")
            do { try await gate.ready() } catch {}
            #expect(calls.take() == ["3.1-1"])
            #expect(defaults.string(forKey: key) == "1.1")
            defaults.set("3.1-1", forKey: key)
            gate.retry()
            try await gate.ready()
            #expect(calls.take() == ["4.0", "new"])
            #expect(defaults.string(forKey: key) == "3.1-1")
        }
    }

    @Test func `a manager without keys takes its data for the elder's`() async throws {
        try await withDefaults([:]) { suite, _ in
            func answer() throws -> MigrationManager.FirstRun {
                let elder = (try manager("Library", suite), "1.1")
                return versionLeft(by: try manager("Search", suite), elder: elder, withoutKeys: .everything) {
                    _ in
                }
            }
            guard case .everything = try answer() else { throw Calls.Failure() }
            try manager("Library", suite).writeBack(version("1.3"))
            guard case .existingData(at: "1.1") = try answer() else { throw Calls.Failure() }
        }
    }

    func takingOver(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) throws {
        // Sample 2 of ComingFromSModel.md
    }

    @Test func `the number of sModel is found in either place`() throws {
        let scripts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE c(x)"]
        let migrator = try SQLiteMigrator(SQLiteMigration.numbered(scripts))
        let older = "\(scripts[0]); \(scripts[1]); PRAGMA user_version = 2"
        let newer = """
            \(scripts[0]); \(scripts[1]); PRAGMA user_version = 1002;
            CREATE TABLE "_sModel_DBDefTracker" (
                "namespace" TEXT PRIMARY KEY, "version" INTEGER, "lastUpdated" REAL, lastHash TEXT
            );
            INSERT INTO "_sModel_DBDefTracker" VALUES ('', 2, 0, ''), ('songs', 7, 0, '')
            """
        for (left, songs) in [(older, Int64(0)), (newer, 7), ("", 0)] {
            let db = try database(left)
            #expect(try numberOfSModel(in: db, namespace: "songs") == songs)
            #expect(try numberOfSModel(in: db, namespace: "others") == 0)
            for _ in 1...2 { try takingOver(migrator, db) }
            #expect(try migrator.status(db).applied == [1, 2, 3])
        }
    }

    private func version(_ text: String) throws -> AppVersion { try AppVersion(parsing: text) }

    private func manager(_ name: String?, _ suite: String) throws -> OldManager {
        OldManager(name: name, oldest: try version("1.0"), newest: try version("1.4"), suite: suite)
    }

    private func gate(_ folder: String, _ suite: String) -> MigrationGate {
        appGate(in: URL(filePath: folder), appVersion: "4.0", suite: suite, isUnlocked: { true })
    }

    /// Hands over the name of defaults with what an old library left in them, and a new folder.
    private func withDefaults(
        _ left: [String: any Sendable],
        _ body: (_ suite: String, _ folder: String) async throws -> Void
    ) async throws {
        let suite = "ComingFrom-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        for (key, value) in left { defaults.set(value, forKey: key) }
        try await withFolder { folder async throws in try await body(suite, folder) }
    }

    /// The start of a release that asks the defaults.
    private func start(
        _ release: String = "1.4",
        in folder: String,
        _ suite: String,
        by name: String?,
        named: String = "Library",
        report: (String) -> Void
    ) throws -> MigrationManager {
        try MigrationManager(
            named: named,
            currentVersion: release,
            firstRun: versionLeft(by: manager(name, suite), report: report),
            stateDirectory: folder
        )
    }

    /// The keys that the old libraries left, and the version at which the app goes on.
    private nonisolated static let cases:
        [(left: [String: any Sendable], name: String?, from: String?, isReported: Bool)] = [
            ([:], "Library", nil, false),
            (["MFMigrationManagerLastVersionKey-Library": "1.1-2"], "Library", "1.1-2", false),
            (["MFMigrationManagerInitialVersionKey-Library": "1.2"], "Library", "1.2", false),
            (["MFMigrationManagerInitialVersionKey-Other": "1.2"], "Library", nil, false),
            (["MFMigrationManagerLastVersionKey": "1.3"], nil, "1.3", false),
            (["MFMigrationManagerLastVersionKey-(null)": "1.3"], nil, "1.3", false),
            (["MFMigrationManagerLastVersionKey": "1.3"], "Library", nil, false),
            (
                [
                    "MFMigrationManagerLastVersionKey": 13,
                    "MFMigrationManagerInitialVersionKey": "1.1",
                ], nil, "1.1", false
            ),
            (
                [
                    "MFMigrationManagerLastVersionKey-(null)": "1.1",
                    "MFMigrationManagerInitialVersionKey": "1.2",
                ], nil, "1.2", false
            ),
            (["MTMigration.lastMigrationVersion": "1.1"], "Library", "1.1", false),
            (
                ["MTMigration.lastAppVersion": "1.3", "MTMigration.lastMigrationVersion": "1.1"], "Library",
                "1.1",
                false
            ),
            (["MFMigrationManagerInitialVersionKey-Library": "1.3b2"], "Library", "1.3", true),
            (["MFMigrationManagerInitialVersionKey-Library": "1.9b2"], "Library", "1.4", true),
            (["MFMigrationManagerInitialVersionKey-Library": "1.1-2b"], "Library", "1.1-2", true),
            (["MFMigrationManagerInitialVersionKey-Library": "beta"], "Library", "1.0", true),
            (["MFMigrationManagerInitialVersionKey-Library": ""], "Library", "1.0", true),
            (["MFMigrationManagerInitialVersionKey-Library": Data("1.3".utf8)], "Library", "1.0", true),
        ]

    @Test(arguments: cases.indices)
    func `any text that was left starts, and is reported once where it isn't taken as it is`(index: Int)
        async throws
    {
        let (left, name, from, isReported) = Self.cases[index]
        try await withDefaults(left) { suite, folder in
            var reports: [String] = []
            for launch in [MigrationManager.Launch.first, .same] {
                let manager = try start(in: folder, suite, by: name) { reports.append($0) }
                #expect(manager.launch == launch)
                #expect(try manager.lastRunVersion == version(from ?? "1.4"))
            }
            let texts = left.values.compactMap { $0 as? String }
            #expect(reports.count == (isReported ? 1 : 0))
            for report in reports {
                #expect(report.hasSuffix("\" of the defaults is taken for \(from ?? "")."))
                #expect(texts.isEmpty || report.hasPrefix("\"\(texts[0])\""))
            }
        }
    }
}
