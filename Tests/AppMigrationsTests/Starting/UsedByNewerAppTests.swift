import Foundation
import Testing

@testable import AppMigrations

/// A newer version of the app that comes to the same data while an older one has a manager of it.
@Suite(.temporaryDirectory) struct UsedByNewerAppTests {
    let folder = TemporaryDirectory.current

    private func kinds(_ rows: [PlannedMigration]) -> [String] { rows.map { "\($0.version) \($0.kind)" } }

    @Test func `an older app is told that a newer one was started, and not that its migration has run`()
        throws
    {
        try folder.writeState(lastRun: "1.3")
        let older = try folder.manager("1.4")
        #expect(older.launch == .upgrade(from: version("1.3")))
        _ = try folder.manager("1.5")
        let before = try folder.stateText()
        let rows = try older.plan { try $0.declare("1.3", "1.4", "1.4-1") }
        #expect(kinds(rows) == ["1.3 baseline", "1.4 refused", "1.4-1 refused"])
        #expect(rows.map(\.error?.code) == [nil, .usedByNewerApp, .managerClosed])
        #expect(try !older.whenMigrating(toVersion: "1.3", minimumAppVersion: "1.3") {})
        let error = try older.refusal(of: "1.4")
        #expect(error.code == .usedByNewerApp)
        #expect(error.version == version("1.4"))
        #expect(error.description.contains("version 1.5 of the app was started on the data"))
        #expect(try older.refusal(of: "1.4-1").code == .managerClosed)
        #expect(try folder.stateText() == before)
        let next = try folder.manager("1.4")
        #expect(next.launch == .downgrade(from: version("1.5")))
        #expect(try next.declare("1.4") == [])
    }

    @Test func `an older app is told so where the newer one ran its migration, too`() throws {
        try folder.writeState(lastRun: "1.3")
        let older = try folder.manager("1.4")
        try folder.manager("1.5").declare("1.4", "1.5")
        #expect(try older.refusal(of: "1.4").code == .usedByNewerApp)
        #expect(older.lastRunVersion == version("1.3"))
    }

    @Test func `a fresh install that a newer app overtook takes nothing into its baseline`() throws {
        let older = try folder.manager("1.4")
        _ = try folder.manager("1.5")
        #expect(try older.refusal(of: "1.4-1").code == .usedByNewerApp)
        #expect(try folder.manager("1.5").declare("1.4-1") == ["1.4-1"])
    }

    @Test func `a start that finds a newer app under the lock only is a downgrade`() throws {
        // Files to be put back make the start wait for the lock, under which a newer app saves its state.
        try folder.writeState(lastRun: "1.3", more: died(in: "1.4", isProtecting: true))
        let lock = try #require(try FileLock.ifFree(StateLocation(name: "Library", directory: folder.path)))
        let options = MigrationManager.Options { event in
            guard event.kind == .waiting else { return }
            do { try folder.writeState(lastRun: "1.3", launched: "1.5") } catch { Issue.record(error) }
            lock.unlock()
        }
        #expect(try folder.manager("1.4", options: options).launch == .downgrade(from: version("1.5")))
    }

    @Test func `a state that another process made first is raised to the version launched`() throws {
        let lock = try #require(try FileLock.ifFree(StateLocation(name: "Library", directory: folder.path)))
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
