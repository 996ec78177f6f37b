import Testing

@testable import AppMigrations

/// `upgradesFrom`, below which an app has no longer all the migrations that the data needs.
@Suite(.temporaryDirectory) struct EarliestUpgradeTests {
    let folder = TemporaryDirectory.current

    private static let options = MigrationManager.Options(upgradesFrom: "2.0")

    @Test func `data below it is too old, and nothing is changed`() throws {
        try folder.writeState(lastRun: "1.9", launched: "2.4", more: died(in: "2.1", app: "2.5"))
        let before = try folder.stateText()
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("3.0", options: Self.options)
        }
        #expect(error.code == .tooOld)
        #expect(error.version == version("1.9"))
        #expect(
            error.description == """
                The data of manager "Library" (\(folder.stateFile)) is at version 1.9, and version 3.0 of the app \
                only upgrades data from version 2.0 on. Nothing was run. First start an older release of the app that upgrades data from version 1.9.
                """
        )
        #expect(try folder.stateText() == before)
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test(
        arguments: [
            ("2.0", "2.0", nil, false), ("2.0-1", "2.0", nil, false), ("2.0.0", "2.0", nil, false),
            ("3.0", "3.0", nil, false), ("1.9-9", "3.0", nil, true), ("0", "3.0", nil, false),
            ("0", "2.0", nil, false),
            ("0", "1.9", nil, true), ("0", "3.0", "2.0", false), ("0", "3.0", "1.1", true),
        ] as [(String, String, String?, Bool)]
    )
    func `data from it on is upgraded, and so is what builds itself and has not begun`(
        lastRun: String,
        launched: String,
        begun: String?,
        isTooOld: Bool
    ) throws {
        try folder.writeState(
            lastRun: lastRun,
            launched: launched,
            more: begun.map { died(in: $0, app: "2.5") } ?? ""
        )
        var code: MigrationError.Code?
        do throws(MigrationError) {
            _ = try library("3.0", in: folder.path, firstRun: .freshInstall, options: Self.options)
        } catch {
            code = error.code
        }
        #expect(code == (isTooOld ? .tooOld : nil))
    }

    @Test func `a version that was begun earlier and isn't declared any more is too old`() throws {
        let attempted =
            #""otherAttempts": [ { "version": "1.1", "attemptCount": 1, "crashCount": 0, "appVersion": "2.5" } ],"#
        try folder.writeState(lastRun: "0", launched: "3.0", more: attempted)
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("3.0", options: Self.options)
        }
        #expect(error.code == .tooOld)
    }

    @Test(arguments: ["1.9", "0"])
    func `older data on a first run is too old, and no state is written`(found: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try folder.manager("3.0", firstRun: .existingData(at: found), options: Self.options)
        }
        #expect(error.code == .tooOld)
        #expect(error.description.contains("is at version \(found), and version 3.0"))
        #expect(error.description.contains("No state was written. Nothing was run."))
        #expect(try folder.names() == ["Library.migrations.lock"])
    }

    @Test func `a subsystem that builds itself goes on building after a death`() throws {
        try withTemporaryDirectory { folder in
            let manager = try folder.manager("3.0", firstRun: .everything, options: Self.options)
            #expect(manager.launch == .first)
            _ = try manager.failure(of: "2.0")
            let next = try folder.manager("3.0", firstRun: .everything, options: Self.options)
            #expect(try next.declare("2.0", "2.1") == ["2.0", "2.1"])
            _ = try folder.manager("3.0", options: Self.options)
        }
        try withTemporaryDirectory { folder in
            let fresh = try folder.manager("3.0", options: Self.options)
            #expect(fresh.lastRunVersion == version("3.0"))
        }
    }

    @Test func `the mark can't be set below it`() throws {
        let manager = try folder.manager("3.0", options: Self.options)
        let before = try folder.stateText()
        let error = try #require(throws: MigrationError.self) { try manager.reset(to: "1.9") }
        #expect(error.code == .tooOld)
        #expect(error.description.contains("lastRunVersion was not changed."))
        #expect(try folder.stateText() == before)
        try manager.reset(to: "2.0")
        try manager.reset(to: "0")
        #expect(try folder.manager("3.0", options: Self.options).lastRunVersion == .zero)
    }

    @Test(arguments: [false, true])
    func `one that can't be read, or lies above the app, is refused at each start`(hasState: Bool) throws {
        if hasState { try folder.writeState(lastRun: "3.0") }
        var options = MigrationManager.Options()
        options.upgradesFrom = "2.x"
        let unreadable = try #require(throws: MigrationError.self) {
            try folder.manager("3.0", options: options)
        }
        #expect(unreadable.code == .invalidVersion)
        #expect(unreadable.description.contains("\"2.x\""))
        #expect(
            unreadable.description.contains(
                "It is the upgradesFrom of manager \"Library\" (\(folder.stateFile)). Nothing was run. A version consists "
            )
        )
        options.upgradesFrom = "3.0.1"
        let above = try #require(throws: MigrationError.self) { try folder.manager("3.0", options: options) }
        #expect(above.code == .newerThanCurrentVersion)
        #expect(
            above.description == """
                The upgradesFrom 3.0.1 of manager "Library" (\(folder.stateFile)) is newer than the app (3.0). Nothing was run. \
                Set upgradesFrom to the version of the newest migration that you removed.
                """
        )
        options.upgradesFrom = "3.0-1"
        if hasState {
            let older = try #require(throws: MigrationError.self) {
                try folder.manager("3.0", options: options)
            }
            #expect(older.code == .tooOld)
        }
    }

    @Test(arguments: ["2.9", "3.0", "3.0-0", "3.0-3"])
    func `a fresh install is never too old, nor is what builds itself, in any later start`(earliest: String)
        throws
    {
        let options = MigrationManager.Options(upgradesFrom: earliest)
        for firstRun in [MigrationManager.FirstRun.freshInstall, .everything] {
            try withTemporaryDirectory { folder in
                for launch in [MigrationManager.Launch.first, .same, .same] {
                    let manager = try folder.manager("3.0", firstRun: firstRun, options: options)
                    #expect(manager.launch == launch)
                    if firstRun == .freshInstall { #expect(manager.lastRunVersion >= version(earliest)) }
                }
                try folder.manager("3.0", options: options).reset(to: "0")
                let next = try folder.manager("3.1", options: options)
                #expect(next.launch == .upgrade(from: version("3.0")))
                #expect(try next.declare("3.0-4", "3.1") == ["3.0-4", "3.1"])
            }
        }
    }

    @Test func `a fresh install has the left out sub-migrations of its release behind it`() throws {
        do {
            let manager = try folder.manager("3.0", options: .init(upgradesFrom: "3.0-3"))
            #expect(manager.lastRunVersion == version("3.0-3"))
            #expect(try manager.status.baseline == version("3.0-3"))
            #expect(manager.requiredAppVersion == nil)
            #expect(try manager.declare("3.0-3") == [])
        }
        #expect(try folder.manager("3.0").declare("3.0-3", "3.0-4") == ["3.0-4"])
    }
}
