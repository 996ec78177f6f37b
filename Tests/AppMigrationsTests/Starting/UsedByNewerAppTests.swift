import Foundation
import Testing

@testable import AppMigrations

/// A newer version of the app that comes to the same data while an older one has a manager of it.
@Suite(.temporaryDirectory) struct UsedByNewerAppTests {
    let folder = TemporaryDirectory.current

    private func kinds(_ rows: [PlannedMigration]) -> [String] { rows.map { "\($0.version) \($0.kind)" } }

    @Test func `a build whose version was too high, and that only started, holds nothing back`() throws {
        try folder.manager("1.9", firstRun: .everything).declare("1.9")
        _ = try folder.manager("99.0.0")
        for (current, ran) in [("1.9", []), ("1.10", ["1.10"]), ("1.11", ["1.11"]), ("5.0", ["5.0"])] {
            let manager = try folder.manager(current)
            #expect(manager.launch == .downgrade(from: version("99.0.0")))
            let rows = try manager.plan { try $0.declare(current) }
            #expect(rows.map(\.kind) == [ran == [] ? .alreadyRun : .willRun])
            #expect(try manager.declare(current) == ran)
        }
        #expect(try folder.stateText().contains("\"launchedVersion\" : \"99.0.0\""))
    }

    @Test func `a newer app that starts after the manager was made holds nothing back`() throws {
        try folder.writeState(lastRun: "1.3")
        let older = try folder.manager("1.4")
        _ = try folder.manager("1.5")
        #expect(try kinds(older.plan { try $0.declare("1.3", "1.4") }) == ["1.3 baseline", "1.4 willRun"])
        #expect(try older.declare("1.4", "1.4-1") == ["1.4", "1.4-1"])
    }

    @Test func `a release that failed in an older migration and was rolled back leaves it to the older app`()
        throws
    {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        _ = try folder.manager("1.5").failure(of: "1.3")
        let manager = try folder.manager("1.4")
        #expect(manager.launch == .downgrade(from: version("1.5")))
        #expect(try manager.declare("1.2", "1.3", "1.4") == ["1.2", "1.3", "1.4"])
        #expect(try manager.status.history.map(\.attemptCount) == [1, 2, 1])
    }

    /// What a newer app may have begun above this one.
    static let begun = [
        #""minimumAppVersion" : "1.5","#, died(in: "1.5", app: "1.5"),
        died(in: "1.3", app: "1.5")
            + #""otherAttempts" : [ { "version" : "1.5", "attemptCount" : 1, "crashCount" : 0, "appVersion" : "1.5" } ],"#,
    ]

    @Test(arguments: begun)
    func `an app below what a newer one has begun runs nothing, and says so`(begun: String) throws {
        for isMadeBefore in [false, true] {
            try folder.writeState(lastRun: "1.3", launched: "1.5", more: isMadeBefore ? "" : begun)
            let manager = try folder.manager("1.4")
            let other = try folder.manager("1.4")
            try folder.writeState(lastRun: "1.3", launched: "1.5", more: begun)
            let before = try folder.stateText()
            let rows = try manager.plan { try $0.declare("1.3", "1.4", "1.4-1") }
            #expect(kinds(rows) == ["1.3 baseline", "1.4 refused", "1.4-1 refused"])
            #expect(rows.map(\.error?.code) == [nil, .usedByNewerApp, .managerClosed])
            #expect(try !manager.whenMigrating(toVersion: "1.3", minimumAppVersion: "1.3") {})
            let error = try manager.refusal(of: "1.4")
            #expect(error.code == .usedByNewerApp)
            #expect(error.version == version("1.4"))
            #expect(try manager.refusal(of: "1.4-1").code == .managerClosed)
            #expect(try other.declare("1.3") == [])
            #expect(try folder.stateText() == before)
        }
    }

    @Test func `the error of a newer app names the ways out, and they work`() throws {
        try folder.writeState(lastRun: "1.3", launched: "1.4")
        let newer = try folder.manager("1.5")
        _ = try newer.failure(of: "1.5")
        let error = try folder.manager("1.4").refusal(of: "1.4")
        #expect(
            error.description == """
                Migration 1.4 of manager "Library" (\(folder.stateFile)) was not run: version 1.5 of the app has begun to \
                change the data, and this app is version 1.4. Start version 1.5 or a later one. If the data is still as version 1.3 left it, call reset(to: "1.3"). Every later version is then pending again.
                """
        )
        let manager = try folder.manager("1.4")
        try manager.reset(to: "1.3")
        #expect(try manager.declare("1.4") == ["1.4"])
        #expect(try folder.manager("1.5").declare("1.4", "1.5") == ["1.5"])
    }

    @Test func `the error below a floor names the ways out, and they work`() throws {
        try folder.writeState(lastRun: "1.3", launched: "1.4")
        try folder.manager("1.5").whenMigrating(toVersion: "1.5", minimumAppVersion: "1.5") {}
        let (recorded, restored) = ("\"1.5\",\n  \"baseline\"", "\"1.3\",\n  \"baseline\"")
        try folder.write(folder.stateText().replacing(recorded, with: restored))
        let manager = try folder.manager("1.4")
        let error = try manager.refusal(of: "1.4")
        #expect(
            error.description == """
                Migration 1.4 of manager "Library" (\(folder.stateFile)) was not run: version 1.5 of the app has begun to \
                change the data, and this app is version 1.4. Start version 1.5 or a later one. If the data was replaced with older data, call forgetState, and answer firstRun: with existingData(at:) and the \
                version of that data.
                """
        )
        _ = try folder.forget()
        #expect(try folder.manager("1.4", firstRun: .existingData(at: "1.3")).declare("1.4") == ["1.4"])
    }

    @Test func `an older app is told so where the newer one ran its migration, too`() throws {
        try folder.writeState(lastRun: "1.3")
        let older = try folder.manager("1.4")
        try folder.manager("1.5").declare("1.4", "1.5")
        #expect(try older.refusal(of: "1.4").code == .usedByNewerApp)
        #expect(older.lastRunVersion == version("1.3"))
        #expect(try folder.manager("1.4").declare("1.4") == [])
    }

    @Test func `a newer app that ran only what the older one declares has not overtaken it`() throws {
        try folder.writeState(lastRun: "1.3")
        let older = try folder.manager("1.4")
        try folder.manager("1.5").declare("1.4")
        #expect(try older.declare("1.4") == [])
        #expect(older.lastRunVersion == version("1.4"))
    }

    @Test func `a start that finds a newer app under the lock only is a downgrade`() throws {
        // A first run waits for the lock, and meanwhile a newer app saves its state.
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        )
        let options = MigrationManager.Options { event in
            guard event.kind == .waiting else { return }
            do { try folder.writeState(lastRun: "1.3", launched: "1.5") } catch { Issue.record(error) }
            lock.unlock()
        }
        #expect(try folder.manager("1.4", options: options).launch == .downgrade(from: version("1.5")))
    }

    @Test func `a state that another process made first is raised to the version launched`() throws {
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        )
        let options = MigrationManager.Options { event in
            guard event.kind == .waiting else { return }
            do { try folder.writeState(lastRun: "1.3") } catch { Issue.record(error) }
            lock.unlock()
        }
        let start = try folder.manager("1.5", options: options)
        #expect(start.launch == .upgrade(from: version("1.3")))
        #expect(try folder.stateText().contains("\"launchedVersion\" : \"1.5\""))
    }

    @Test func `the limit of attempts is decided by the state under the lock`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4", more: died(in: "1.2", before: 1))
        let options = MigrationManager.Options(attemptLimit: 2)
        let stale = try folder.manager(options: options)
        let other = try folder.manager(options: options)
        #expect(try folder.manager(options: options).refusal(of: "1.2").code == .attemptLimitReached)
        #expect(try folder.manager().declare("1.2") == ["1.2"])
        #expect(try stale.declare("1.2", "1.3") == ["1.3"])
        try folder.manager().reset(to: "1.1")
        #expect(try other.declare("1.2") == ["1.2"])
    }
}
