import Foundation
import Testing

@testable import AppMigrations

// `dlsym` and capabilities differ on Apple's systems, where no test runs as root.
#if os(Linux)
/// The owner of a state that root has saved.
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

    @Test func `a save opens a state to nobody`() throws {
        for mode: mode_t in [0o640, 0o660, 0o606] {
            try #require(chmod(scratch.state.stateFile, mode) == 0)
            try scratch.manager(upgradingTo: "1.1").reset(to: "1.0")
            #expect(try Self.status(scratch.state.stateFile).permissions == 0o600)
        }
    }

    @Test func `a lock that root makes is the folder's owner's`() async throws {
        try scratch.remove("state/Library.migrations.lock")
        try #require(chown(scratch.state.path, Self.user, 1_234) == 0)
        _ = try scratch.manager(upgradingTo: "1.1")
        let found = try Self.status(scratch.state.lockFile)
        #expect((found.owner, found.group) == (Self.user, 1_234))
        #expect(found.permissions == 0o600)
        await Self.asUser(scratch, "1.2")
    }

    @Test func `what root finds where the lock is stays whose it is`() async throws {
        try scratch.remove("state/Library.migrations.lock")
        try scratch.write("", to: "state/Library.migrations.lock")
        _ = try scratch.manager(upgradingTo: "1.1")
        #expect(try Self.status(scratch.state.lockFile).owner == 0)
    }

    @Test func `the state directory that root makes in a user's folder, and the first state, are the user's`()
        async throws
    {
        try await withTemporaryDirectory { scratch async throws in
            try #require(chown(scratch.path, Self.user, 1_234) == 0)
            let folder = scratch.file("above/state")
            _ = try library("1.0", in: folder, firstRun: .freshInstall)
            for name in ["", "/state", "/state/Library.migrations.json", "/state/Library.migrations.lock"] {
                let found = try Self.status(scratch.file("above" + name))
                #expect((found.owner, found.group) == (Self.user, 1_234), "\(name)")
                #expect(found.permissions == (found.kind == .file ? 0o600 : 0o700), "\(name)")
            }
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                try #require(setgid(OwnedStateTests.user) == 0 && setuid(OwnedStateTests.user) == 0)
                try library("1.1", in: folder).whenMigrating(toVersion: "1.1") {}
            }
        }
    }

    @Test func `in a folder that others may write to root gives nothing away`() throws {
        try withTemporaryDirectory { scratch throws in
            try #require(chown(scratch.path, Self.user, Self.user) == 0 && chmod(scratch.path, 0o777) == 0)
            _ = try scratch.manager(upgradingTo: "1.0")
            #expect(try Self.status(scratch.state.path).owner == 0)
            try #require(
                chown(scratch.state.path, Self.user, 0) == 0 && chmod(scratch.state.path, 0o777) == 0
            )
            try scratch.remove("state/Library.migrations.lock")
            _ = try scratch.manager(upgradingTo: "1.1")
            for path in [scratch.state.stateFile, scratch.state.lockFile] {
                #expect(try Self.status(path).owner == 0)
            }
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
}
#endif
