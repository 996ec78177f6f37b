import AppMigrations
import AppMigrationsGate
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct ComingFrom {
    // Sample 1 of ComingFromMFMigrationManager.md

    // Sample 2 of ComingFromMFMigrationManager.md

    // Sample 1 of ComingFromSModel.md

    @MainActor final class LibraryDelegate {
        var versions = [String]()
        func didMigrate(to version: AppVersion) { versions.append(version.description) }
    }

    @MainActor @Test func `a delegate of the main actor is told of each migration`() async throws {
        try await withFolder { folder async throws in
            let delegate = LibraryDelegate()
            let migrations = try MigrationManager(
                currentVersion: "1.2",
                firstRun: .everything,
                stateDirectory: folder,
                options: options(telling: delegate)
            )
            try migrations.whenMigrating(toVersion: "1.1") {}
            try migrations.whenMigrating(toVersion: "1.2") {}
            while delegate.versions.count < 2 { await Task.yield() }
            #expect(delegate.versions == ["1.1", "1.2"])
        }
    }

    @Test func `the old library finds its own version after a start of a new release`() async throws {
        for (name, end) in [("Library", "-Library"), (nil, ""), (nil, "-(null)")] {
            try await withDefaults(["MFMigrationManagerInitialVersionKey\(end)": "1.0"]) { defaults, folder in
                writeBack(try version("1.4"), to: defaults, of: name)
                let migrations = try start("1.5", in: folder, defaults, by: name) { _ in }
                #expect(migrations.lastRunVersion.description == "1.4")
            }
        }
    }

    let calls = Calls()

    func moveNotes(_ folder: URL) throws {}
    func makeDatabase(_ folder: URL) throws {}

    func declareLibrary(_ migrations: MigrationManager) throws {
        for version in ["2.0", "3.1-1", "4.0"] {
            try migrations.whenMigrating(toVersion: version) { try calls.note(version) }
        }
    }

    @Test(arguments: [false, true])
    func `the keys follow a start that fails, and a higher one is heeded`(isNew: Bool) async throws {
        let suite = "ComingFrom-\(UUID().uuidString)"
        let key = "MFMigrationManagerLastVersionKey-Library"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        if !isNew { defaults.set("1.1", forKey: key) }
        try await withFolder { folder async throws in
            let gate = MigrationGate { start in
                let defaults = try #require(UserDefaults(suiteName: suite))
                try startLibrary(
                    start,
                    in: URL(filePath: folder),
                    appVersion: "4.0",
                    defaults: defaults,
                    declare: declareLibrary
                )
            }
            calls.fail(at: "3.1-1")
            do { try await gate.ready() } catch {}
            #expect(calls.take() == (isNew ? [] : ["2.0", "3.1-1"]))
            #expect(defaults.string(forKey: key) == (isNew ? "3.1-1" : "2.0"))
            defaults.set("3.1-1", forKey: key)
            gate.retry()
            try await gate.ready()
            #expect(calls.take() == (isNew ? [] : ["4.0"]))
        }
    }

    @Test func `a manager without keys takes its data for the elder's`() async throws {
        try await withDefaults([:]) { defaults, _ in
            func answer() throws -> MigrationManager.FirstRun {
                try versionLeft(
                    in: defaults,
                    by: "Search",
                    oldest: version("1.0"),
                    newest: version("1.4"),
                    elder: (name: "Library", release: "1.1"),
                    withoutKeys: .everything
                ) { _ in }
            }
            guard case .everything = try answer() else { throw Calls.Failure() }
            defaults.set("1.3", forKey: "MFMigrationManagerLastVersionKey-Library")
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

    /// Hands over defaults with what an old library left in them, and a new folder.
    private func withDefaults(
        _ left: [String: any Sendable],
        _ body: (UserDefaults, _ folder: String) throws -> Void
    ) async throws {
        let suite = "ComingFrom-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        for (key, value) in left { defaults.set(value, forKey: key) }
        try await withFolder { folder async throws in try body(defaults, folder) }
    }

    /// The start of a release that asks the defaults.
    private func start(
        _ release: String = "1.4",
        in folder: String,
        _ defaults: UserDefaults,
        by name: String?,
        report: (String) -> Void
    ) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: release,
            firstRun: versionLeft(
                in: defaults,
                by: name,
                oldest: version("1.0"),
                newest: version("1.4"),
                report: report
            ),
            stateDirectory: folder
        )
    }

    /// The keys that the old libraries left, and the version at which the app goes on.
    private static let cases:
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
        try await withDefaults(left) { defaults, folder throws in
            var reports: [String] = []
            for launch in [MigrationManager.Launch.first, .same] {
                let manager = try start(in: folder, defaults, by: name) { reports.append($0) }
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
