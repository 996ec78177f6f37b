import Foundation
import Testing

@testable import AppMigrations

/// The first run, in its three forms.
@Suite(.temporaryDirectory) struct MigrationManagerStartTests {
    let folder = TemporaryDirectory.current

    @Test func `a fresh install runs nothing, sub-migrations of its version included`() throws {
        do {
            let manager = try folder.manager("1.4")
            #expect(manager.launch == .first)
            #expect(try manager.declare("1.1", "1.4", "1.4-1", "1.4-2") == [])
            #expect(manager.lastRunVersion == version("1.4-2"))
            #expect(try manager.status.history.isEmpty)
        }
        let next = try folder.manager("1.4")
        #expect(next.launch == .same)
        #expect(try next.declare("1.1", "1.4", "1.4-1", "1.4-2", "1.4-3") == ["1.4-3"])
    }

    @Test func `a fresh install of a version with a sub-number has it all behind it`() throws {
        #expect(try folder.manager("1.4-2").declare("1.4-1", "1.4-2") == [])
        #expect(try folder.manager("1.4").declare("1.4-1", "1.4-2", "1.4-3") == ["1.4-3"])
    }

    @Test func `data older than the library runs everything after its version`() throws {
        let manager = try folder.manager("1.4", firstRun: .existingData(at: "1.1"))
        #expect(manager.launch == .first)
        #expect(manager.lastRunVersion == version("1.1"))
        #expect(try manager.declare("1.0", "1.1", "1.1-1", "1.4", "1.4-1") == ["1.1-1", "1.4", "1.4-1"])
    }

    @Test(arguments: [
        ("1.5", "newerThanCurrentVersion"), ("1.4.1", "newerThanCurrentVersion"), ("x", "invalidVersion"),
    ])
    func `data from a version that can't be makes no state`(from: String, code: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("1.4", firstRun: .existingData(at: from))
        }
        #expect(error.code.description == code)
        #expect(error.managerName == "Library")
        #expect(try folder.names() == ["Library.migrations.lock"])
    }

    @Test func `a subsystem that builds itself runs everything`() throws {
        let manager = try folder.manager("1.4", firstRun: .everything)
        #expect(manager.launch == .first)
        #expect(manager.lastRunVersion == version("0"))
        #expect(try manager.declare("0-1", "0.1", "1.4", "1.4-1") == ["0-1", "0.1", "1.4", "1.4-1"])
    }

    @Test func `what data there is is asked on the first run only`() throws {
        var asked = 0
        func ask() -> MigrationManager.FirstRun {
            asked += 1
            return .everything
        }
        for _ in 1...2 { _ = try folder.manager("1.4", firstRun: ask()) }
        #expect(asked == 1)
    }

    @Test func `an app can test its answer`() {
        func ask(isOld: Bool) -> MigrationManager.FirstRun {
            isOld ? .existingData(at: "1.0") : .freshInstall
        }
        #expect(ask(isOld: true) == .existingData(at: "1.0"))
        #expect(ask(isOld: true) != .existingData(at: "1.1"))
        #expect(ask(isOld: false) == .freshInstall)
    }

    @Test func `a question that throws makes no state and is asked again`() throws {
        func ask() throws -> MigrationManager.FirstRun { throw Failure() }
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("1.4", firstRun: try ask())
        }
        #expect(error.code == .firstRunFailed)
        #expect(error.underlyingError is Failure)
        #expect(try folder.names() == ["Library.migrations.lock"])
        #expect(try folder.manager("1.4").launch == .first)
    }

    @Test func `a manager of the same state made inside the question is nested`() throws {
        func ask() throws -> MigrationManager.FirstRun {
            _ = try folder.manager("1.4")
            return .everything
        }
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("1.4", firstRun: try ask())
        }
        #expect(error.code == .firstRunFailed)
        #expect((error.underlyingError as? MigrationError)?.code == .nested)
    }

    @Test func `a state that can't be saved is an error of the first run`() throws {
        try folder.makeFolder(folder.obstacle)
        let error = try #require(throws: MigrationError.self) { try folder.manager() }
        #expect(error.code == .stateNotSaved)
        #expect(
            error.description
                == "The state of manager \"Library\" (\(folder.stateFile)) could not be saved: \(folder.stateFile).tmp: "
                + "Is a directory (unlink, errno 21). "
                + "The file has the old state. Nothing was run. Make room on the disk, or make the folder writable, and start the app again."
        )
    }

    @Test func `folders that aren't there are made, for this user alone`() throws {
        let deep = folder.path + "/a/b/c"
        _ = try MigrationManager(named: "Library", currentVersion: "1", stateDirectory: deep)
        for path in ["/a", "/a/b", "/a/b/c"] { #expect(try folder.mode(folder.path + path) == 0o700) }
        #expect(try folder.mode(deep + "/Library.migrations.json") == 0o600)
        #expect(try folder.mode(deep + "/Library.migrations.lock") == 0o600)
    }

    @Test(arguments: [
        ("", "it is empty"), ("a\0b", "a path can't contain a NUL character"),
        ("file:///tmp", "it is a URL; pass its path(percentEncoded: false)"),
    ])
    func `a directory that can't be one is refused`(directory: String, reason: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(named: "Library", currentVersion: "1", stateDirectory: directory)
        }
        let shown = directory.replacingOccurrences(of: "\0", with: "\\u0000")
        #expect(
            error.description
                == "The state directory \"\(shown)\" of manager \"Library\" can't be used: \(reason). "
                + "Nothing was run. Pass the absolute path of a folder as stateDirectory:."
        )
        #expect(error.code == .unusableDirectory)
    }

    #if !canImport(Darwin)
    @Test func `without a bundle there is no default directory`() throws {
        let errors = [
            try #require(throws: MigrationError.self) {
                try MigrationManager(named: "Library", currentVersion: "1")
            },
            try #require(throws: MigrationError.self) {
                try MigrationManager.forgetState(named: "Library")
            },
        ]
        for (error, unchanged) in zip(errors, ["Nothing was run.", "The state was not moved."]) {
            #expect(error.code == .unusableDirectory)
            #expect(error.path == nil)
            #expect(
                error.description
                    == "Manager \"Library\" was created without stateDirectory:, and there is no default because the program "
                    + "has no bundle identifier. \(unchanged) Pass the path of a folder that stays the same in all later "
                    + "releases."
            )
        }
    }
    #endif

    #if !canImport(Darwin)
    @Test func `without a bundle there is no default version`() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(named: "Library", stateDirectory: folder.path)
        }
        #expect(error.code == .unknownCurrentVersion)
        #expect(
            error.description
                == "Manager \"Library\" was created without currentVersion:, and the main bundle has no "
                + "CFBundleShortVersionString. Nothing was run. Pass currentVersion:."
        )
    }
    #endif

    @Test func `what firstRun: gives is refused where it is no version, or a newer one`() throws {
        let unreadable = try #require(throws: MigrationError.self) {
            try folder.manager("1.4", firstRun: .existingData(at: "1.4b2"))
        }
        #expect(unreadable.code == .invalidVersion)
        let unchanged = "No state was written. Nothing was run."
        let advice =
            "The answer of firstRun: must be the version of the app that wrote the data. If it isn't "
            + "known, answer with the oldest version that can have written it. The next start "
            + "evaluates firstRun: again."
        let place = "the answer of firstRun: in manager \"Library\" (\(folder.stateFile))"
        #expect(unreadable.description.contains(" It is \(place). \(unchanged) A version consists "))
        #expect(unreadable.description.hasSuffix(advice))
        let newer = try #require(throws: MigrationError.self) {
            try folder.manager("1.4", firstRun: .existingData(at: "9.0"))
        }
        #expect(newer.code == .newerThanCurrentVersion)
        let text = "Version 9.0, \(place), is newer than the app (1.4). \(unchanged) \(advice)"
        #expect(newer.description == text + " If a newer app changed the data, start that app.")
        #expect(try folder.names() == ["Library.migrations.lock"])
    }

    @Test(arguments: ["1.x", ""])
    func `a current version that can't be read is refused`(text: String) throws {
        let error = try #require(throws: MigrationError.self) { try folder.manager(text) }
        #expect(error.code == .invalidVersion)
        #expect(try folder.names() == [])
    }
}

/// How a start relates to the last one.
struct LaunchTests {
    @Test(
        arguments: [
            ("1.4", "1.4", "1.4", .same), ("1.1", "1.4", "1.4", .same), ("1.4-2", "1.4", "1.4", .same),
            ("1.1", "1.1", "1.4", .upgrade(from: version("1.1"))),
            ("1.1", "1.3", "1.4", .upgrade(from: version("1.3"))),
            ("1.1", "1.4", "1.4-1", .upgrade(from: version("1.4"))),
            ("1.1", "1.5", "1.4", .downgrade(from: version("1.5"))),
            ("1.5", "1.4", "1.4", .downgrade(from: version("1.5"))),
            ("1.5-2", "1.5", "1.4", .downgrade(from: version("1.5"))),
            ("1.4-3", "1.4", "1.4-2", .downgrade(from: version("1.4-3"))),
            ("1.4-3", "1.4-3", "1.4", .same), ("1.4-1", "1.4-3", "1.4-2", .downgrade(from: version("1.4-3"))),
            ("1.4-3", "1.4", "1.3-9", .downgrade(from: version("1.4"))),
        ] as [(String, String, String, MigrationManager.Launch)]
    )
    func `a start is compared with what ran and what was launched`(
        lastRun: String,
        launched: String,
        current: String,
        launch: MigrationManager.Launch
    ) {
        let mark = version(lastRun)
        let versions = StateVersions(lastRun: mark, baseline: mark, launched: version(launched))
        #expect(versions.launch(of: version(current)) == launch)
    }
}
