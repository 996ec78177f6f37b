import Foundation
import Testing

@testable import AppMigrations

/// What other libraries left in the user defaults, taken over by the sample of the documentation.
struct TakeOverTests {
    private static let cases: [(left: [String: String], name: String?, from: String?, isReported: Bool)] = [
        ([:], "Library", nil, false),
        (["MFMigrationManagerLastVersionKey-Library": "1.1-2"], "Library", "1.1-2", false),
        (["MFMigrationManagerLastVersionKey-Library": "1.4-9"], "Library", "1.4-9", false),
        (["MFMigrationManagerInitialVersionKey-Library": "1.2"], "Library", "1.2", false),
        (["MFMigrationManagerInitialVersionKey-Other": "1.2"], "Library", nil, false),
        (["MFMigrationManagerLastVersionKey-(null)": "1.3"], nil, "1.3", false),
        (["MFMigrationManagerInitialVersionKey-default": "1.2"], nil, "1.2", false),
        (
            [
                "MFMigrationManagerLastVersionKey-default": "1.3",
                "MFMigrationManagerInitialVersionKey-(null)": "1.1",
            ], nil, "1.3", false
        ),
        (["MTMigration.lastMigrationVersion": "1.1"], "Library", "1.1", false),
        (["MFMigrationManagerInitialVersionKey-Library": "1.3b2"], "Library", "1.3", true),
        (["MFMigrationManagerInitialVersionKey-Library": "1.9b2"], "Library", "1.4", true),
        (["MFMigrationManagerInitialVersionKey-Library": "9.0"], "Library", "1.4", true),
        (["MFMigrationManagerInitialVersionKey-Library": "beta"], "Library", "1.0", true),
        (["MFMigrationManagerInitialVersionKey-Library": ""], "Library", "1.0", true),
    ]

    @Test(arguments: cases.indices)
    func `any text that was left starts, and is reported once where it isn't taken as it is`(index: Int)
        throws
    {
        let (left, name, from, isReported) = Self.cases[index]
        let suite = "TakeOverTests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        for (key, value) in left { defaults.set(value, forKey: key) }
        try withTemporaryDirectory { folder in
            var reports: [String] = []
            for launch in [MigrationManager.Launch.first, .same] {
                let manager = try MigrationManager(
                    named: "Library",
                    currentVersion: "1.4",
                    firstRun: versionLeft(
                        in: defaults,
                        by: name,
                        appVersion: version("1.4"),
                        oldest: version("1.0"),
                        report: { reports.append($0) }
                    ),
                    stateDirectory: folder.path
                )
                #expect(manager.launch == launch)
                #expect(manager.lastRunVersion == version(from ?? "1.4"))
            }
            let text = left.values.first ?? ""
            let report = "\"\(text)\" in the user defaults is taken for \(from ?? "")."
            #expect(reports == (isReported ? [report] : []))
        }
    }
}
