import Foundation
import Testing

@testable import AppMigrations

/// A fresh install runs none of its own release's sub-migrations, whoever declares them, until a first start got through.
@Suite(.temporaryDirectory) struct FreshInstallTests {
    let folder = TemporaryDirectory.current

    /// One start of the app: a manager that declares these versions and is released at its end.
    @discardableResult
    private func start(_ current: String = "1.4", _ versions: String...) throws -> [String] {
        let manager = try folder.manager(current)
        var ran: [String] = []
        for version in versions { ran += try manager.declare(version) }
        return ran
    }

    private var isFresh: Bool {
        get throws { try folder.stateText().contains("\n  \"freshInstall\" : \"1.4\",\n") }
    }

    @Test func `a first start that died before it declared anything leaves a fresh install`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let manager = try MigrationManager(named: "Library", currentVersion: "1.4", stateDirectory: path)
            withExtendedLifetime(manager) { die() }
        }
        #expect(try isFresh)
        #expect(try start("1.4", "1.4", "1.4-1", "1.4-2") == [])
        #expect(try !isFresh)
        #expect(try folder.manager().lastRunVersion == version("1.4-2"))
        #expect(try start("1.4", "1.4-1", "1.4-2", "1.4-3") == ["1.4-3"])
    }

    @Test func `a first start that died between two declarations leaves a fresh install`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let manager = try MigrationManager(named: "Library", currentVersion: "1.4", stateDirectory: path)
            try manager.whenMigrating(toVersion: "1.4-1") {}
            withExtendedLifetime(manager) { die() }
        }
        #expect(try start("1.4", "1.4-1", "1.4-2") == [])
        #expect(try start("1.4", "1.4-1", "1.4-2", "1.4-3") == ["1.4-3"])
    }

    @Test func `a first start that only planned, or was only looked at, leaves a fresh install`() throws {
        do {
            let manager = try folder.manager()
            let rows = try manager.plan { try $0.declare("1.1", "1.4-1") }
            #expect(rows.map(\.kind) == [.baseline, .baseline])
            let look = try folder.look("1.4")
            _ = try look.status
            #expect(try look.plan { try $0.declare("1.4-1") }.map(\.kind) == [.baseline])
            #expect(try look.declare("1.4") == [])
        }
        #expect(try isFresh)
        #expect(try folder.manager().plan { try $0.declare("1.4-1") }.map(\.kind) == [.baseline])
        #expect(try start("1.4", "1.4-1") == [])
        #expect(try !isFresh)
        #expect(try folder.manager().plan { try $0.declare("1.4-2") }.map(\.kind) == [.willRun])
    }

    @Test func `a read-only manager meets a sub-migration of a fresh install as pending, and not as run`()
        throws
    {
        _ = try folder.manager()
        #expect(try folder.look("1.4").declare("1.4-1") == [])
        #expect(try isFresh)
    }

    @Test func `of two managers at once each takes them into the baseline`() throws {
        let one = try folder.manager()
        let two = try folder.manager()
        #expect(try two.declare("1.4-1") == [])
        #expect(try one.declare("1.4-1", "1.4-2") == [])
        #expect(try two.declare("1.4-2", "1.4-3") == [])
        withExtendedLifetime((one, two)) {}
        #expect(try folder.manager().lastRunVersion == version("1.4-3"))
    }

    @Test func `of an extension that starts first and declares nothing the app makes nothing`() throws {
        #expect(try start("1.4") == [])
        #expect(try start("1.4", "1.4-1") == [])
    }

    @Test func `a first start without sub-migrations ends it too, and the next one writes nothing`() throws {
        #expect(try start("1.4", "1.3", "1.4") == [])
        #expect(try !isFresh)
        let before = try folder.everything()
        #expect(try start("1.4", "1.3", "1.4") == [])
        #expect(try folder.everything() == before)
        #expect(try start("1.4", "1.4-1") == ["1.4-1"])
    }

    @Test func `a first start that was closed by an error leaves a fresh install`() throws {
        do {
            let manager = try folder.manager()
            #expect(try manager.declare("1.3") == [])
            #expect(try manager.refusal(of: "1.5").code == .newerThanCurrentVersion)
        }
        #expect(try isFresh)
        #expect(try start("1.4", "1.4-1") == [])
    }

    @Test func `where the lock isn't free at once the next start ends it`() throws {
        try start("1.4")
        let lock = try #require(
            try FileLock.takeIfFree(at: StateLocation(name: "Library", directory: folder.path))
        )
        try start("1.4", "1.4")
        #expect(try isFresh)
        lock.unlock()
        try start("1.4", "1.4")
        #expect(try !isFresh)
    }

    @Test func `a release that can't save says nothing, and the next start ends it`() throws {
        try start("1.4")
        try folder.makeFolder(folder.obstacle)
        try start("1.4", "1.4")
        #expect(try isFresh)
        try folder.remove(folder.obstacle)
        try start("1.4", "1.4")
        #expect(try !isFresh)
    }

    @Test func `a release makes no state, lock or folder that is gone`() throws {
        let path = folder.path + "/inner"
        do {
            let manager = try library("1.4", in: path, firstRun: .freshInstall)
            try manager.declare("1.4")
            try folder.remove(path)
        }
        #expect(try folder.names() == [])
    }

    @Test func `the first start of another version ends it with the save of the version launched`() throws {
        try start("1.4")
        try start("1.3", "1.3")
        #expect(try isFresh)
        #expect(try start("1.4", "1.4-1") == [])
        try folder.remove(folder.stateFile)
        try start("1.4")
        try start("1.5")
        #expect(try !folder.stateText().contains("freshInstall"))
        #expect(try start("1.5", "1.4-1", "1.5") == ["1.4-1", "1.5"])
    }

    @Test func `an older or a newer app takes no sub-migration of another release into the baseline`() throws
    {
        let fresh = try folder.manager("1.4")
        let newer = try folder.manager("1.5")
        #expect(try newer.declare("1.4-1") == ["1.4-1"])
        #expect(try fresh.declare("1.4-1", "1.4-2") == ["1.4-2"])
    }

    @Test func `a reset ends it, also for managers that were made before`() throws {
        let other = try folder.manager()
        try folder.manager().reset(to: "1.4")
        #expect(try !isFresh)
        #expect(try other.declare("1.4-1") == ["1.4-1"])
    }

    @Test
    func `a state that was forgotten and made of older data ends it for managers that were made before`()
        throws
    {
        let other = try folder.manager()
        try folder.remove(folder.stateFile)
        let next = try folder.manager("1.4", firstRun: .existingData(at: "1.4"))
        #expect(try other.declare("1.4-1") == ["1.4-1"])
        #expect(try next.declare("1.4-1") == [])
    }

    @Test func `data that was there and a subsystem that builds itself are no fresh installs`() throws {
        for firstRun in [MigrationManager.FirstRun.existingData(at: "1.4"), .everything] {
            _ = try folder.manager("1.4", firstRun: firstRun)
            #expect(try !isFresh)
            #expect(try start("1.4", "1.4-1") == ["1.4-1"])
            try folder.remove(folder.stateFile)
        }
    }

    @Test func `a version with a sub-number is a fresh install of its own`() throws {
        try start("1.4-2")
        #expect(try start("1.4-2", "1.4-1", "1.4-2") == [])
        #expect(try start("1.4-3", "1.4-3") == ["1.4-3"])
    }

    @Test(arguments: ["\"1.x\"", "1.4", "null"])
    func `a mark that can't be read is damage, which the first start finds`(value: String) throws {
        try start("1.4")
        try folder.write(
            folder.stateText().replacing("\"freshInstall\" : \"1.4\"", with: "\"freshInstall\" : \(value)")
        )
        #expect(throws: MigrationError.self) { try folder.manager() }
    }
}
