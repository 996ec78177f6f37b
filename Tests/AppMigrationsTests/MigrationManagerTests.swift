import Foundation
import Testing

@testable import AppMigrations

/// Starts of an app on real files: what runs, in which order, and what is recorded.
@Suite(.temporaryDirectory) struct MigrationManagerTests {
    let folder = TemporaryDirectory.current

    @Test func `what lies after the last-run version and not after the current one runs, in order, once`()
        throws
    {
        let manager = try folder.manager("1.4", after: "1.1")
        #expect(manager.launch == .upgrade(from: version("1.1")))
        #expect(try manager.declare("1.1", "1.1-1", "1.2.5", "1.4") == ["1.1-1", "1.2.5", "1.4"])
        #expect(manager.lastRunVersion == version("1.4"))
        let next = try folder.manager("1.4")
        #expect(next.launch == .same)
        #expect(try next.declare("1.1", "1.1-1", "1.2.5", "1.4") == [])
    }

    @Test func `each migration is a row of the history`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let before = Int64(Date().timeIntervalSince1970)
        try manager.declare("1.2", "1.4")
        let rows = try manager.status.history
        #expect(rows.map(\.version) == [version("1.2"), version("1.4")])
        #expect(rows.map(\.previousVersion) == [version("1.1"), version("1.2")])
        #expect(rows.map(\.appVersion) == [version("1.4"), version("1.4")])
        #expect(rows.map(\.attemptCount) == [1, 1])
        // The real clock, since a history is in its time. It may go back meanwhile, so the same hour is all that can be asked.
        #expect(rows.allSatisfy { abs($0.finishedAt - before) < 3_600 && $0.duration >= .zero })
    }

    @Test func `where nothing is pending the state file is not touched`() throws {
        try folder.writeState(lastRun: "1.4")
        let before = try folder.stateText()
        try folder.manager("1.4").declare("1.1", "1.2", "1.4")
        #expect(try folder.stateText() == before)
        #expect(try folder.names() == ["Library.migrations.json"])
    }

    @Test func `the app's version is recorded by migrations only`() throws {
        try folder.writeState(lastRun: "1.1")
        try folder.manager("1.4").declare("1.1", "1.2")
        let next = try folder.manager("1.4")
        #expect(next.lastRunVersion == version("1.2"))
        #expect(try next.declare("1.1", "1.2", "1.3") == ["1.3"])
    }

    @Test func `a sub-migration of the current version runs, and one above a hard limit is refused`() throws {
        try folder.writeState(lastRun: "1.1")
        #expect(try folder.manager("1.4").declare("1.4-1") == ["1.4-1"])
        let limited = try folder.manager("1.4-2")
        #expect(try limited.declare("1.4-2") == ["1.4-2"])
        #expect(try limited.refusal(of: "1.4-3").code == .newerThanCurrentVersion)
        #expect(try folder.manager("1.4").declare("1.4-2", "1.4-3") == ["1.4-3"])
    }

    @Test func `a version above the current one is refused and runs nothing`() throws {
        let error = try folder.manager("1.4").refusal(of: "1.5")
        #expect(error.code == .newerThanCurrentVersion)
        #expect(error.version == version("1.5"))
        #expect(error.managerName == "Library")
        #expect(error.path == folder.stateFile)
    }

    @Test(arguments: [("1.2", "1.1"), ("1.2", "1.2"), ("1.1", "1.1.0"), ("0.9", "0.8"), ("1.2-1", "1.2")])
    func `versions that don't rise are refused, whether they ran or not`(first: String, second: String) throws
    {
        let manager = try folder.manager("1.4", after: "1.1")
        try manager.declare(first)
        #expect(try manager.refusal(of: second).code == .declaredOutOfOrder)
    }

    @Test(arguments: ["", "v1", "1.", "1.0-beta"])
    func `a version that can't be read is refused and closes the manager`(text: String) throws {
        let manager = try folder.manager("1.4", firstRun: .everything)
        #expect(try manager.refusal(of: text).code == .invalidVersion)
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        #expect(try manager.refusal(of: text).code == .managerClosed)
    }

    @Test func `closures run on the caller's thread before the call returns`() throws {
        let manager = try folder.manager("1.4", firstRun: .everything)
        let caller = Thread.current
        var threads: [Thread] = []
        try manager.whenMigrating(toVersion: "1.1") { threads.append(Thread.current) }
        try manager.whenMigrating(toVersion: "1.2") { (_: MigrationContext) in
            threads.append(Thread.current)
        }
        #expect(threads == [caller, caller])
    }

    @Test func `a context knows its version and the one before`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        var contexts: [MigrationContext] = []
        try manager.whenMigrating(toVersion: "1.2") { context in contexts.append(context) }
        try manager.whenMigrating(toVersion: "1.4-1") { context in contexts.append(context) }
        #expect(contexts.map(\.version) == [version("1.2"), version("1.4-1")])
        #expect(contexts.map(\.previousVersion) == [version("1.1"), version("1.2")])
        #expect(contexts.map(\.attempt) == [1, 1])
        #expect(contexts.map(\.isRetry) == [false, false])
    }

    @Test func `a downgrade is told at every start, lowers no mark, and runs what is pending`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.5")
        let before = try folder.stateText()
        for _ in 1...2 {
            let manager = try folder.manager("1.4")
            #expect(manager.launch == .downgrade(from: version("1.5")))
            #expect(try manager.declare("1.1") == [])
        }
        #expect(try folder.stateText() == before)
        #expect(try folder.manager("1.4").declare("1.2", "1.4") == ["1.2", "1.4"])
        #expect(try folder.manager("1.4").launch == .downgrade(from: version("1.5")))
        #expect(try folder.manager("1.5").declare("1.2", "1.5") == ["1.5"])
        #expect(try folder.manager("1.4").declare("1.2", "1.4-1") == [])
        #expect(try folder.manager("1.4").lastRunVersion == version("1.5"))
    }

    @Test func `the launched version is saved when it rises`() throws {
        try folder.writeState(lastRun: "1.1")
        for (current, launched) in [("1.2", "1.2"), ("1.4", "1.4"), ("1.3", "1.4")] {
            _ = try folder.manager(current)
            #expect(try folder.stateText().contains("\"launchedVersion\" : \"\(launched)\""), "\(current)")
        }
    }

    @Test func `a state that can't be read any more is unreadable and not absent`() throws {
        let manager = try library("1.4", in: folder.path + "/inner", firstRun: .freshInstall)
        try folder.remove(folder.path + "/inner")
        try Data().write(to: URL(fileURLWithPath: folder.path + "/inner"))
        let error = #expect(throws: MigrationError.self) { () throws in _ = try manager.status.history }
        #expect(error?.code == .stateUnreadable)
        #expect(error?.underlyingError is SystemCallError)
    }

    @Test(arguments: [false, true])
    func `a launched version that can't be saved is no error, and the next start saves it`(isLocked: Bool)
        throws
    {
        try folder.writeState(lastRun: "1.1")
        let location = StateLocation(name: "Library", directory: folder.path)
        let lock = isLocked ? try FileLock.takeIfFree(at: location) : nil
        if !isLocked { try folder.makeFolder(folder.obstacle) }
        let log = Log()
        for _ in 1...2 {
            let manager = try folder.manager("1.4", options: log.options())
            #expect(manager.launch == .upgrade(from: version("1.1")))
            #expect(try manager.declare("1.0", "1.1") == [])
        }
        lock?.unlock()
        if !isLocked { try folder.remove(folder.obstacle) }
        #expect(try folder.manager("1.4").launch == .upgrade(from: version("1.1")))
        #expect(try folder.manager("1.4").launch == .same)
        #expect(try folder.manager("1.3").launch == .downgrade(from: version("1.4")))
        #expect(log.lines == [])
    }
}
