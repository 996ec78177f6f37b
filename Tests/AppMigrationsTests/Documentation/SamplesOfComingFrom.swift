import AppMigrations
import Foundation
import Testing

// The samples of "Coming from another migration library", as they stand there.

func versionLeft(
    in defaults: UserDefaults,
    by name: String?,
    oldest: AppVersion,
    lastRelease: AppVersion,
    report: (String) -> Void
) -> MigrationManager.FirstRun {
    let ends = name.map { ["-\($0)"] } ?? ["", "-(null)"]
    let keys =
        ends.flatMap {
            [
                "MFMigrationManagerLastVersionKey\($0)",
                "MFMigrationManagerInitialVersionKey\($0)",
            ]
        } + [
            "MTMigration.lastMigrationVersion",
            "MTMigration.lastAppVersion",
        ]
    let found = keys.lazy.compactMap { defaults.object(forKey: $0) }
    // Perhaps a user from before that library: see below.
    guard let left = found.first else { return .freshInstall }
    let text = left as? String ?? ""
    let digits = text.prefix { "0123456789.".contains($0) }
    let numbers = digits.split(
        separator: ".",
        omittingEmptySubsequences: false
    )
    let complete = numbers.prefix { !$0.isEmpty }
    let release = AppVersion(complete.joined(separator: "."))
    let isVersion = AppVersion(text) != nil
    if isVersion, let release, release <= lastRelease {
        return .existingData(at: text)
    }
    let version = min(release ?? oldest, lastRelease)
    report("\"\(left)\" of the defaults is taken for \(version).")
    return .existingData(at: version.description)
}

struct DeviceIsLocked: Error {}

func startAfterMFMigrationManager(
    appVersion: String,
    stateDirectory: String,
    isUnlocked: Bool,
    report: (String) -> Void
) throws -> MigrationManager {
    // On a locked device the user defaults are a new user's.
    guard isUnlocked else { throw DeviceIsLocked() }
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: try versionLeft(
            in: .standard,
            by: "Library",
            oldest: AppVersion(parsing: "1.0"),
            lastRelease: AppVersion(parsing: "3.1"),
            report: report
        ),
        stateDirectory: stateDirectory
    )
    try migrations.whenMigrating(toVersion: "1.1") {
        try moveArchiveToFolders()
    }
    try migrations.whenMigrating(toVersion: "1.1-2") {
        try renameDrafts()
    }
    try migrations.whenMigrating(toVersion: "3.2") {
        try buildIndex()
    }
    return migrations
}

func declareStore(
    _ migrations: MigrationManager,
    store: String
) throws {
    try migrations.whenMigrating(
        toVersion: "2.0",
        protecting: [store]
    ) { context in
        try migrateCoreDataStore(at: store) {
            context.reportProgress($0)
        }
    }
}

private func moveArchiveToFolders() throws { try Calls.note() }
private func renameDrafts() throws { try Calls.note() }
private func buildIndex() throws { try Calls.note() }

private func migrateCoreDataStore(at path: String, progress: (Double) -> Void) throws {
    try Data("half".utf8).write(to: URL(filePath: path))
    progress(0.5)
    try Calls.note()
    try Data("new".utf8).write(to: URL(filePath: path))
}

/// `versionLeft` has its rows in TakeOverTests.
@Suite struct SamplesOfComingFrom {
    /// In a process of its own, whose user defaults are nobody else's, and aren't written to disk.
    @Test func `an app of MFMigrationManager goes on where it was, and a new one runs nothing`() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { folder throws in
                func start(_ state: String) throws -> [String] {
                    let calls = Calls()
                    try calls.during {
                        _ = try startAfterMFMigrationManager(
                            appVersion: "3.2",
                            stateDirectory: folder.path + state,
                            isUnlocked: true,
                            report: { Issue.record("\($0)") }
                        )
                    }
                    return calls.names
                }
                #expect(throws: DeviceIsLocked.self) {
                    try startAfterMFMigrationManager(
                        appVersion: "3.2",
                        stateDirectory: folder.path + "/old",
                        isUnlocked: false,
                        report: { Issue.record("\($0)") }
                    )
                }
                #expect(try start("/new") == [])
                UserDefaults.standard.register(defaults: ["MFMigrationManagerLastVersionKey-Library": "1.1"])
                #expect(try start("/old") == ["renameDrafts", "buildIndex"])
                #expect(try start("/old") == [])
                #expect(try start("/new") == [])
            }
        }
    }

    @Test func `a store of Core Data comes back after a failure and after a crash`() async throws {
        try await withTemporaryDirectory { folder async throws in
            let store = folder.path + "/store"
            try Data("old".utf8).write(to: URL(filePath: store))
            func content() throws -> String { try String(contentsOfFile: store, encoding: .utf8) }
            let log = Log()
            _ = try folder.manager("1.0")
            let failing = Calls(failing: "migrateCoreDataStore")
            #expect(throws: MigrationError.self) {
                try failing.during {
                    try declareStore(folder.manager("2.0", options: log.options()), store: store)
                }
            }
            #expect(try content() == "old")
            #expect(log.lines.contains("Library progressed 2.0 from 1.0 attempt 1 0.5"), "\(log.lines)")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = folder.path as String, store = store as String] in
                let options = MigrationManager.Options { event in
                    if event.kind == .progressed, event.fraction == 0.5 { die() }
                }
                try declareStore(
                    TemporaryDirectory(path: path).manager("2.0", options: options),
                    store: store
                )
            }
            #expect(try content() == "half")
            let migrations = try folder.manager("2.0")
            #expect(try content() == "old")
            try declareStore(migrations, store: store)
            #expect(try content() == "new")
        }
    }
}
