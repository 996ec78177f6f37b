import AppMigrations
import Foundation
import Testing

/// What a manager sees of another process, by a look at the lock.
@Suite(.temporaryDirectory) struct OutsideLookTests {
    let scratch = TemporaryDirectory.current

    /// 7 where an attempt is under way, 8 where its process died.
    private static func look(_ path: String, isReadOnly: Bool) throws -> Int32 {
        let options = MigrationManager.Options(isReadOnly: isReadOnly)
        return try library("1.1", in: path, options: options).status.interruption?.isUnderWay == true ? 7 : 8
    }

    @Test(arguments: [false, true])
    func `an attempt is under way as long as its process has the lock`(isReadOnly: Bool) async throws {
        let path = scratch.state.path
        try await scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {
            await #expect(processExitsWith: .exitCode(7)) {
                [path = path as String, isReadOnly = isReadOnly as Bool] in
                _exit(try Self.look(path, isReadOnly: isReadOnly))
            }
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try library("1.2", in: path).whenMigrating(toVersion: "1.2") { die() }
        }
        #expect(try Self.look(path, isReadOnly: isReadOnly) == 8)
    }

    /// The look has the lock for a moment, as a process that died may have it: neither is a reason to give up.
    @Test func `who meets a look waits for it, whatever the time-out`() throws {
        let manager = try scratch.manager(upgradingTo: "1.1", options: .init(lockTimeout: .zero))
        let lock = open(scratch.state.lockFile, O_RDONLY | O_CLOEXEC)
        try #require(flock(lock, LOCK_SH) == 0)
        let options = MigrationManager.Options(lockTimeout: .zero) { event in
            if event.kind == .waiting { close(lock) }
        }
        let waiting = try scratch.manager(upgradingTo: "1.1", options: options)
        #expect(try waiting.declare("1.1") == ["1.1"])
        #expect(try manager.declare("1.1") == [])
    }
}
