import AppMigrations
import AppMigrationsLegacy
import Foundation
import TestSupport
import Testing

/// Where a manager continues, by the keys that the old library left.
@Suite(.temporaryDirectory) struct ReadingKeysTests {
    let scratch = TemporaryDirectory.current

    private static let cases: [(keys: [String: String], library: LegacyManager.Library, from: String?)] = [
        ([:], .mfMigrationManager(named: "Library"), nil),
        ([lastKey: "1.1-2"], .mfMigrationManager(named: "Library"), "1.1-2"),
        // 1.0 and 1.0.1 had a key for the release that was installed first.
        ([initialKey: "1.2"], .mfMigrationManager(named: "Library"), "1.2"),
        ([initialKey: "1.2", lastKey: "1.1"], .mfMigrationManager(named: "Library"), "1.2"),
        ([initialKey: "1.2", lastKey: "1.10"], .mfMigrationManager(named: "Library"), "1.10"),
        ([lastKey: "1.2"], .mfMigrationManager(named: "Search"), nil),
        ([lastKey: "1.2"], .mfMigrationManager(), nil),
        (["MFMigrationManagerLastVersionKey": "1.3"], .mfMigrationManager(), "1.3"),
        (["MFMigrationManagerInitialVersionKey": "1.3"], .mfMigrationManager(), "1.3"),
        (["MFMigrationManagerLastVersionKey-(null)": "1.3"], .mfMigrationManager(), "1.3"),
        (["MFMigrationManagerLastVersionKey": "1.3"], .mfMigrationManager(named: "Library"), nil),
        (["MTMigration.lastMigrationVersion": "1.1"], .mtMigration, "1.1"),
        // A migration that arrives late still runs, as it did there.
        (
            ["MTMigration.lastMigrationVersion": "1.1", "MTMigration.lastAppVersion": "1.3"], .mtMigration,
            "1.1"
        ),
        (["MTMigration.lastMigrationVersion": "1.1"], .mtMigrationSwift, nil),
        (["Migration.lastMigrationVersion": "1.1"], .mtMigrationSwift, "1.1"),
        (["MTMigration.lastMigrationBuild": "301"], .mtMigrationBuilds, "301"),
        (["Migration.lastMigrationBuild": "301"], .mtMigrationSwiftBuilds, "301"),
        // A fresh install of the last release, and its last sub-migration.
        ([lastKey: "3.5"], .mfMigrationManager(named: "Library"), "3.5"),
        ([lastKey: "3.5-2"], .mfMigrationManager(named: "Library"), "3.5-2"),
    ]

    @Test(arguments: cases.indices)
    func `a manager continues at the highest version that the old library left`(index: Int) throws {
        let (keys, library, from) = Self.cases[index]
        try scratch.writeKeys(keys)
        let old = try scratch.old(library, lastRelease: from == "301" ? "350" : "3.5")
        #expect(try old.lastRunVersion?.description == from)
        let expected = from.map { MigrationManager.FirstRun.existingData(at: $0) } ?? .freshInstall
        #expect(try old.firstRun(isUnlocked: true) == expected)
    }

    @Test(
        arguments: [
            (LegacyManager.Library.mtMigration, "MTMigration.lastAppVersion"),
            (.mtMigrationBuilds, "MTMigration.lastAppBuild"),
            (.mtMigrationSwift, "Migration.lastAppVersion"),
            (.mtMigrationSwiftBuilds, "Migration.lastAppBuild"),
        ]
    )
    func `if MTMigration was launched and no migration succeeded, everything runs`(
        library: LegacyManager.Library,
        key: String
    ) throws {
        try scratch.writeKeys([key: "1.3"])
        #expect(
            try scratch.old(library).firstRun(isUnlocked: true, withoutKeys: .freshInstall) == .everything
        )
    }

    @Test func `without keys the app answers, and only then`() throws {
        let old = try scratch.old()
        #expect(
            try old.firstRun(isUnlocked: true, withoutKeys: .existingData(at: "1.0"))
                == .existingData(at: "1.0")
        )
        #expect(throws: Failure.self) { try old.firstRun(isUnlocked: true, withoutKeys: fail()) }
        try scratch.writeKeys([lastKey: "1.1"])
        #expect(try old.firstRun(isUnlocked: true, withoutKeys: fail()) == .existingData(at: "1.1"))
    }

    private func fail() throws -> MigrationManager.FirstRun { throw Failure() }

    @Test func `a locked phone gets no answer, whatever its keys seem to be`() throws {
        let old = try scratch.old()
        #expect(throws: MigrationGate.RequiresUnlock.self) { try old.firstRun(isUnlocked: false) }
        try scratch.writeKeys([lastKey: "1.1"])
        #expect(throws: MigrationGate.RequiresUnlock.self) { try old.firstRun(isUnlocked: false) }
    }

    @Test func `texts of betas mean what the app says`() throws {
        let old = try scratch.old { ["3.0b2": "2.1", "9.9": "3.5-2"][$0] }
        for (text, version) in [("3.0b2", "2.1"), ("9.9", "3.5-2"), ("3.4", "3.4")] {
            try scratch.writeKeys([lastKey: text])
            #expect(try old.firstRun(isUnlocked: true) == .existingData(at: version))
        }
        let failing = try scratch.old { _ in throw Failure() }
        try scratch.writeKeys([lastKey: "3.0b2"])
        #expect(throws: Failure.self) { try failing.lastRunVersion }
    }

    @Test(
        arguments: [
            (
                "1.2b3",
                """
                The key "\(lastKey)" in PLACE has the value "1.2b3", which isn't a version. The value was not changed. \
                In resolvingVersion:, return the version of the data for this value.
                """
            ),
            (
                "",
                """
                The key "\(lastKey)" in PLACE has the value "", which isn't a version. The value was not changed. \
                In resolvingVersion:, return the version of the data for this value.
                """
            ),
            (
                "3.6",
                """
                The key "\(lastKey)" in PLACE has the value "3.6", which is above 3.5, the last release with the old library. \
                The value was not changed. In resolvingVersion:, return the version of the data for this value.
                """
            ),
        ]
    )
    func `a text that nobody knows is never guessed`(text: String, message: String) throws {
        try scratch.writeKeys([lastKey: text])
        let error = try #require(throws: LegacyDefaultsError.self) { try scratch.old().lastRunVersion }
        #expect(error.code == .unknownVersion)
        #expect(error.key == lastKey)
        #expect(
            error.description
                == message.replacing("PLACE", with: "the file \(scratch.file("defaults.plist"))")
        )
        #expect(error.localizedDescription == error.description)
        #expect(try scratch.keys == [lastKey: text])
    }

    @Test func `a text that the app resolves to no version is an error`() throws {
        try scratch.writeKeys([lastKey: "beta"])
        let error = try #require(throws: LegacyDefaultsError.self) {
            try scratch.old { _ in "v1" }.lastRunVersion
        }
        #expect(error.code == .unknownVersion)
        #expect(
            error.description == """
                For the value "beta" of the key "\(lastKey)" in the file \(scratch.file("defaults.plist")), resolvingVersion: \
                returned "v1", which isn't a version. The value was not changed. Return a version such as "1.2".
                """
        )
    }

    @Test(arguments: [lastKey, initialKey])
    func `a value that is no text is an error`(key: String) throws {
        try scratch.writeKeys([key: 13])
        let error = try #require(throws: LegacyDefaultsError.self) {
            try scratch.old { _ in "1.0" }.lastRunVersion
        }
        #expect(error.code == .unexpectedValue)
        #expect(
            error.description == """
                The key "\(key)" in the file \(scratch.file("defaults.plist")) has the value 13, which isn't a string. The old \
                library writes only strings. The value was not changed. Remove the key, or set it to the version of the data, \
                for example "1.2".
                """
        )
    }

    @Test func `in firstRun the error is the cause, and no state is made`() throws {
        try scratch.writeKeys([lastKey: "beta"])
        let error = try #require(throws: MigrationError.self) { try scratch.manager() }
        #expect(error.code == .firstRunFailed)
        #expect((error.underlyingError as? LegacyDefaultsError)?.code == .unknownVersion)
        try scratch.writeKeys([lastKey: "3.5"])
        #expect(try scratch.manager().launch == .first)
    }

    @Test func `a file that is no property list with keys is an error`() throws {
        for text in ["no list", "<plist><array/></plist>"] {
            try scratch.write(text, to: "defaults.plist")
            let error = try #require(throws: LegacyDefaultsError.self) { try scratch.old().lastRunVersion }
            #expect(error.code == .unreadable)
            #expect(error.key == nil)
            let start = "The keys in the file \(scratch.file("defaults.plist")) can't be read: "
            #expect(error.description.hasPrefix(start))
            #expect(
                error.description.hasSuffix(
                    " The file was not changed. Replace it with a readable copy, or remove it: without the file there are no keys."
                )
            )
        }
        try scratch.remove("defaults.plist")
        try scratch.makeFolder("defaults.plist")
        let error = try #require(throws: LegacyDefaultsError.self) { try scratch.old().lastRunVersion }
        #expect(error.code == .unreadable)
    }

    @Test func `the last release is a version`() throws {
        let error = try #require(throws: MigrationError.self) { try scratch.old(lastRelease: "3.5b1") }
        #expect(error.code == .invalidVersion)
    }

    @Test func `the keys are in the user defaults`() throws {
        let name = "AppMigrationsLegacyTests-\(UUID().uuidString)"
        let suite = try #require(UserDefaults(suiteName: name))
        defer { suite.removePersistentDomain(forName: name) }
        suite.set("1.2", forKey: lastKey)
        let old = try LegacyManager(
            of: .mfMigrationManager(named: "Library"),
            lastRelease: "3.5",
            in: .suite(named: name)
        )
        #expect(try old.lastRunVersion?.description == "1.2")
        try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
        #expect(UserDefaults(suiteName: name)?.string(forKey: lastKey) == "3.1")
        suite.set(13, forKey: lastKey)
        let error = try #require(throws: LegacyDefaultsError.self) { try old.lastRunVersion }
        #expect(error.description.contains("in the suite \"\(name)\" of the user defaults has the value 13"))
        #expect("\(LegacyManager.Defaults.standard)" == "the user defaults")
    }

    #if !canImport(Darwin)
    /// Foundation writes the file, and the library reads it and writes it.
    ///
    /// Foundation reads `XDG_CONFIG_HOME` when a process starts, so it is set before that.
    @Test func `the user defaults of a program on Linux are read and written in their file`() async throws {
        setenv("XDG_CONFIG_HOME", scratch.file("config"), 1)
        defer { unsetenv("XDG_CONFIG_HOME") }
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            // Foundation keeps the value in memory.
            UserDefaults.standard.set("3.0", forKey: lastKey)
            let old = try LegacyManager(of: .mfMigrationManager(named: "Library"), lastRelease: "3.5")
            #expect(try old.lastRunVersion?.description == "3.0")
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("config"))
            let file = scratch.file("config/" + (try #require(names.first)))
            func number() throws -> Any? {
                try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber]
            }
            let before = try #require(try number() as? Int)
            let manager = try scratch.manager(old)
            try manager.whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
            let copy = try LegacyManager(
                of: .mfMigrationManager(named: "Library"),
                lastRelease: "3.5",
                in: .file(at: file)
            )
            #expect(try copy.lastRunVersion?.description == "3.1")
            // It was replaced, and never empty.
            #expect(try number() as? Int != before)
            #expect(UserDefaults.standard.string(forKey: lastKey) == "3.1")
        }
    }

    /// Foundation writes, in a process that has started with this home folder.
    @Test func `without XDG_CONFIG_HOME, the user defaults on Linux are in the home folder`() async throws {
        let home = getenv("HOME").map { String(cString: $0) }
        setenv("HOME", scratch.file("home"), 1)
        defer { if let home { setenv("HOME", home, 1) } else { unsetenv("HOME") } }
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let scratch = TemporaryDirectory(path: path)
            UserDefaults.standard.set("3.0", forKey: lastKey)
            let old = try LegacyManager(of: .mfMigrationManager(named: "Library"), lastRelease: "3.5")
            #expect(try old.lastRunVersion?.description == "3.0")
            #expect(scratch.exists("home/.config"))
            try scratch.manager(old).whenMigrating(toVersion: "3.1", unlessRunBy: old) {}
            #expect(UserDefaults.standard.string(forKey: lastKey) == "3.1")
        }
    }
    #endif
}
