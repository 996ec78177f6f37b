import Foundation
import Testing

@testable import AppMigrations

// `dlsym` and capabilities differ on Apple's systems, where no test runs as root.
#if os(Linux)
/// Whose the state is after root has saved it.
///
/// Only the root user may become another.
@Suite(.temporaryDirectory, .enabled(if: geteuid() == 0))
struct OwnedStateTests {
    private static let user: uid_t = 65_534

    let scratch = TemporaryDirectory.current

    /// A folder of the user, in which the user has made a state.
    init() async throws {
        try scratch.makeFolder("state")
        for path in [scratch.path, scratch.state.path] {
            try #require(chown(path, Self.user, Self.user) == 0)
        }
        await Self.asUser(scratch, "1.0")
    }

    /// Starts as the user, with one migration.
    private static func asUser(_ scratch: TemporaryDirectory, _ current: String) async {
        await #expect(processExitsWith: .success) {
            [path = scratch.state.path as String, current = current as String] in
            try #require(setgid(OwnedStateTests.user) == 0 && setuid(OwnedStateTests.user) == 0)
            let manager = try library(current, in: path)
            try manager.whenMigrating(toVersion: current) {}
        }
    }

    private static func status(_ path: String) throws -> FileStatus { try FileStatus(ofEntry: path) }

    @Test(arguments: [true, false])
    func `a start as root leaves the state its owner's, who goes on with it`(isPending: Bool) async throws {
        try #require(chown(scratch.state.stateFile, Self.user, 1_234) == 0)
        let manager = try scratch.manager(upgradingTo: "1.1")
        if isPending { try manager.whenMigrating(toVersion: "1.1") {} }
        let found = try Self.status(scratch.state.stateFile)
        #expect((found.owner, found.group) == (Self.user, 1_234))
        #expect(found.permissions == 0o600)
        await Self.asUser(scratch, "1.2")
        #expect(try scratch.manager(upgradingTo: "1.2").lastRunVersion == version("1.2"))
    }

    @Test(arguments: [0o640, 0o660, 0o606])
    func `a state stays open to the group to which it was opened, and to nobody else`(mode: mode_t)
        async throws
    {
        try #require(chown(scratch.state.path, Self.user, 1_234) == 0)
        // New files in the folder have its group.
        try #require(chmod(scratch.state.path, 0o2770) == 0)
        try #require(chown(scratch.state.stateFile, Self.user, 1_234) == 0)
        try #require(chmod(scratch.state.stateFile, mode) == 0)
        await Self.asUser(scratch, "1.1")
        #expect(try Self.status(scratch.state.stateFile).permissions == 0o600 | UInt32(mode & 0o060))
        #expect(try Self.status(scratch.state.stateFile).group == 1_234)
        try scratch.manager(upgradingTo: "1.2").whenMigrating(toVersion: "1.2") {}
        let found = try Self.status(scratch.state.stateFile)
        #expect(found.permissions == 0o600 | UInt32(mode & 0o060))
        #expect((found.owner, found.group) == (Self.user, 1_234))
        // Without that bit the new file has the user's own group, which was not let in.
        try #require(chmod(scratch.state.path, 0o770) == 0)
        await Self.asUser(scratch, "1.3")
        #expect(try Self.status(scratch.state.stateFile).permissions == 0o600)
    }

    @Test func `a lock that root makes is the state's owner's, or the folder's`() async throws {
        try scratch.remove("state/Library.migrations.lock")
        try #require(chown(scratch.state.stateFile, 65_533, 1_234) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        let found = try Self.status(scratch.state.lockFile)
        #expect((found.owner, found.group) == (65_533, 1_234))
        #expect(found.permissions == 0o600)

        for name in try scratch.state.names() { try scratch.remove("state/" + name) }
        #expect(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1", firstRun: .existingData(at: "2.0"))
        }
        #expect(try Self.status(scratch.state.lockFile).owner == Self.user)
        await Self.asUser(scratch, "1.0")
    }

    @Test func `what root finds where the lock is stays whose it is`() async throws {
        try scratch.remove("state/Library.migrations.lock")
        try scratch.write("", to: "state/Library.migrations.lock")
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try Self.status(scratch.state.lockFile).owner == 0)
    }

    @Test func `the first state that root makes is root's`() throws {
        try withTemporaryDirectory { scratch throws in
            try scratch.makeFolder("state")
            try #require(chown(scratch.state.path, Self.user, Self.user) == 0)
            _ = try scratch.manager(upgradingTo: "1.1")
            #expect(try Self.status(scratch.state.stateFile).owner == 0)
        }
    }

    @Test func `root without the right to give files away saves all the same`() async throws {
        try #require(chmod(scratch.path, 0o755) == 0)
        await #expect(processExitsWith: .success) { [path = scratch.state.path as String] in
            try OwnedStateTests.dropRightToGiveAway()
            let manager = try library("1.1", in: path, firstRun: .freshInstall)
            try manager.whenMigrating(toVersion: "1.1") {}
        }
        #expect(try Self.status(scratch.state.stateFile).owner == 0)
        #expect(try scratch.manager(upgradingTo: "1.1").lastRunVersion == version("1.1"))
    }

    /// capabilities(7): takes CAP_CHOWN, the first of them.
    private static func dropRightToGiveAway() throws {
        typealias Call = @convention(c) (UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Int32
        func call(_ name: String) throws -> Call {
            unsafeBitCast(try #require(dlsym(dlopen(nil, RTLD_NOW), name)), to: Call.self)
        }
        var header: [UInt32] = [0x2008_0522, 0]
        var sets = [UInt32](repeating: 0, count: 6)
        try #require(call("capget")(&header, &sets) == 0)
        sets[0] &= ~1
        try #require(call("capset")(&header, &sets) == 0)
    }

    @Test func `who may not read the state is told whose it is`() async throws {
        let rows: [(UInt32, uid_t, String)] = [
            (
                0o600, 0,
                "The file belongs to user 0, who alone may read it, and this process runs as user 65534: "
            ),
            (
                0o640, 0,
                "The file belongs to user 0, who may read it as group 0 may, and this process runs as user 65534: "
            ),
            (
                0o200, Self.user,
                "The file belongs to this user, without the right to read it: give it back (chmod u+rw)."
            ),
        ]
        for (mode, owner, text) in rows {
            try #require(
                chown(scratch.state.stateFile, owner, 0) == 0 && chmod(scratch.state.stateFile, mode) == 0
            )
            await Self.expectUnreadable(scratch, "Nothing was run or written. " + text)
        }
        try #require(chown(scratch.state.path, 0, 0) == 0 && chmod(scratch.state.path, 0o700) == 0)
        await Self.expectUnreadable(
            scratch,
            "Nothing was run or written. This process runs as user 65534, who may not look into the folder: "
        )
    }

    private static func expectUnreadable(_ scratch: TemporaryDirectory, _ text: String) async {
        await #expect(processExitsWith: .success) {
            [path = scratch.state.path as String, text = text as String] in
            try #require(setgid(OwnedStateTests.user) == 0 && setuid(OwnedStateTests.user) == 0)
            let error = try #require(throws: MigrationError.self) {
                try MigrationManager(named: "Library", currentVersion: "1.1", stateDirectory: path)
            }
            #expect(error.code == .stateUnreadable)
            #expect(error.description.contains(text), "\(error)")
        }
    }
}
#endif
