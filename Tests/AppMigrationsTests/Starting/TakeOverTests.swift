import Foundation
import Testing

@testable import AppMigrations

/// What other libraries left in the user defaults, taken over by the sample of the documentation.
@Suite(.temporaryDirectory) struct TakeOverTests {
    let folder = TemporaryDirectory.current

    private static let cases:
        [(left: [String: any Sendable], name: String?, from: String?, isReported: Bool)] = [
            ([:], "Library", nil, false),
            (["MFMigrationManagerLastVersionKey-Library": "1.1-2"], "Library", "1.1-2", false),
            (["MFMigrationManagerLastVersionKey-Library": "1.4-9"], "Library", "1.4-9", false),
            (["MFMigrationManagerInitialVersionKey-Library": "1.2"], "Library", "1.2", false),
            (["MFMigrationManagerInitialVersionKey-Other": "1.2"], "Library", nil, false),
            (["MFMigrationManagerLastVersionKey": "1.3"], nil, "1.3", false),
            (["MFMigrationManagerInitialVersionKey": "1.2"], nil, "1.2", false),
            (["MFMigrationManagerLastVersionKey-(null)": "1.3"], nil, "1.3", false),
            (["MFMigrationManagerLastVersionKey": "1.3"], "Library", nil, false),
            (
                [
                    "MFMigrationManagerLastVersionKey": "1.3",
                    "MFMigrationManagerInitialVersionKey": "1.1",
                ], nil, "1.3", false
            ),
            (
                [
                    "MFMigrationManagerLastVersionKey-(null)": "1.1",
                    "MFMigrationManagerInitialVersionKey": "1.2",
                ], nil, "1.2", false
            ),
            (["MTMigration.lastMigrationVersion": "1.1"], "Library", "1.1", false),
            (["MTMigration.lastAppVersion": "1.2"], "Library", "1.2", false),
            (
                ["MTMigration.lastAppVersion": "1.3", "MTMigration.lastMigrationVersion": "1.1"], "Library",
                "1.1",
                false
            ),
            (["MFMigrationManagerInitialVersionKey-Library": "1.3b2"], "Library", "1.3", true),
            (["MFMigrationManagerInitialVersionKey-Library": "1.3."], "Library", "1.3", true),
            (["MFMigrationManagerInitialVersionKey-Library": "1.3..2"], "Library", "1.3", true),
            (["MFMigrationManagerInitialVersionKey-Library": "1.9b2"], "Library", "1.4", true),
            (["MFMigrationManagerInitialVersionKey-Library": "9.0"], "Library", "1.4", true),
            (["MFMigrationManagerInitialVersionKey-Library": "beta"], "Library", "1.0", true),
            (["MFMigrationManagerInitialVersionKey-Library": ""], "Library", "1.0", true),
            (["MFMigrationManagerInitialVersionKey-Library": Data("1.3".utf8)], "Library", "1.0", true),
            (["MFMigrationManagerInitialVersionKey-Library": ["1.3"]], "Library", "1.0", true),
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
        var reports: [String] = []
        for launch in [MigrationManager.Launch.first, .same] {
            let manager = try MigrationManager(
                named: "Library",
                currentVersion: "1.4",
                firstRun: versionLeft(
                    in: defaults,
                    by: name,
                    oldest: version("1.0"),
                    lastRelease: version("1.4"),
                    report: { reports.append($0) }
                ),
                stateDirectory: folder.path
            )
            #expect(manager.launch == launch)
            #expect(manager.lastRunVersion == version(from ?? "1.4"))
        }
        let texts = left.values.compactMap { $0 as? String }
        #expect(reports.count == (isReported ? 1 : 0))
        for report in reports {
            #expect(report.hasSuffix("\" of the defaults is taken for \(from ?? "")."))
            #expect(texts.isEmpty || report.hasPrefix("\"\(texts[0])\""))
        }
    }

    @Test func `what a beta of the next release left hides none of its migrations`() throws {
        let suite = "TakeOverTests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        defaults.set("9.0", forKey: "MFMigrationManagerLastVersionKey-Library")
        let manager = try MigrationManager(
            named: "Library",
            currentVersion: "3.2",
            firstRun: versionLeft(
                in: defaults,
                by: "Library",
                oldest: version("1.0"),
                lastRelease: version("3.1"),
                report: { _ in }
            ),
            stateDirectory: folder.path
        )
        var ran = false
        try manager.whenMigrating(toVersion: "3.2") { ran = true }
        #expect(ran)
    }

    @Test func `where nothing was forgotten but the state, the keys are asked again`() throws {
        let suite = "TakeOverTests-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let key = "MFMigrationManagerLastVersionKey"
        defaults.set("1.1", forKey: key)
        func start() throws -> MigrationManager {
            try MigrationManager(
                currentVersion: "1.4",
                firstRun: versionLeft(
                    in: defaults,
                    by: nil,
                    oldest: version("1.0"),
                    lastRelease: version("1.4"),
                    report: { Issue.record("\($0)") }
                ),
                stateDirectory: folder.path
            )
        }
        try start().whenMigrating(toVersion: "1.4") {}
        try start().forgetState()
        #expect(try start().lastRunVersion == version("1.1"))
        try start().reset(to: "1.4")
        #expect(try start().lastRunVersion == version("1.4"))
        try start().forgetState()
        defaults.removeObject(forKey: key)
        #expect(try start().launch == .first)
        #expect(try start().lastRunVersion == version("1.4"))
    }

    /// `NSNumericSearch` compares the characters beside the numbers by their codes.
    @Test func `a beta hid the sub-migrations of its release from the old library`() {
        func ran(_ version: String) -> Bool {
            version.compare("1.4b2", options: .numeric) == .orderedDescending
        }
        #expect(["1.4", "1.4-1", "1.4.1", "1.5"].map(ran) == [false, false, false, true])
    }
}
