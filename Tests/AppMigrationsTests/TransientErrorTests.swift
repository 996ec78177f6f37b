import Foundation
import Testing

@testable import AppMigrations

/// Who throws an error says whether the same call may succeed later by itself.
@Suite(.temporaryDirectory) struct TransientErrorTests {
    let folder = TemporaryDirectory.current
    static let location = StateLocation(name: "Library", directory: "/d")

    @Test func `a lock that another process has is given back by itself`() throws {
        try folder.writeState(lastRun: "1.0")
        let location = StateLocation(name: "Library", directory: folder.path)
        let lock = try #require(try FileLock.takeIfFree(at: location))
        defer { lock.unlock() }
        let options = MigrationManager.Options(lockTimeout: .inVain)
        let error = try folder.manager("1.1", options: options).refusal(of: "1.1")
        #expect(error.code == .lockTimeout)
        #expect(error.isTransient)
        // The manager stays closed, so the same call of it never succeeds.
        #expect(!MigrationError.managerClosed(nil, by: error, in: location).isTransient)
        #expect(error.ending(in: .text("More.")).isTransient)
    }

    #if canImport(Darwin)
    static let ofLockedDevice = [EPERM, EACCES]
    static let ofOther = [EIO, EISDIR]
    #else
    static let ofLockedDevice = [EPERM, ENOKEY]
    static let ofOther = [EIO, EISDIR, EACCES]
    #endif

    @Test(arguments: ofLockedDevice) func `a locked device is unlocked some time`(number: Int32) {
        let cause = SystemCallError(call: "open", errorNumber: number)
        #expect(MigrationError.unreadable(cause, at: Self.location).isTransient)
    }

    @Test(arguments: ofOther) func `a state that can't be read for another cause stays so`(number: Int32) {
        let cause = SystemCallError(call: "open", errorNumber: number)
        #expect(!MigrationError.unreadable(cause, at: Self.location).isTransient)
    }
}
