import Foundation
import Testing

@testable import AppMigrations

/// Which descriptors the library uses, and what becomes of them when others close them.
@Suite(.temporaryDirectory) struct DescriptorTests {
    let scratch = TemporaryDirectory.current

    /// Names, since an exit test takes no functions.
    static let openers = ["lock", "state", "folder", "new file", "entry"]

    static func descriptor(_ opener: String, in path: String) throws -> Int32 {
        switch opener {
        case "lock": try Platform.openLock(path + "/lock")
        case "state": try (path + "/file").withCString { try Platform.openToRead($0) }
        case "folder": try Platform.openDirectory(path)
        case "entry": try Platform.openEntry(path)
        default: try Platform.createExclusively(path + "/new")
        }
    }

    /// Whether none of the standard streams leads to the same file.
    static func isApart(_ descriptor: Int32) throws -> Bool {
        let file = try FileStatus(descriptor).identity
        return try (Int32(0)...2).allSatisfy { try !isOpen($0) || FileStatus($0).identity != file }
    }

    @Test(arguments: openers)
    func `the descriptors of the standard streams are never used`(opener: String) async throws {
        try scratch.write("", to: "file")
        await #expect(processExitsWith: .success) {
            [path = scratch.path as String, opener = opener as String] in
            for stream in Int32(0)...2 { close(stream) }
            let descriptor = try Self.descriptor(opener, in: path)
            let isExpected = descriptor > 2 ? try Self.isApart(descriptor) : false
            let isClosedOnExec = fcntl(descriptor, F_GETFD) == FD_CLOEXEC
            _exit(isExpected && isClosedOnExec ? 0 : 1)
        }
    }

    @Test func `a closure that closes all descriptors is recorded, and nothing of the app's is closed`()
        async throws
    {
        try scratch.write("old", to: "data")
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let manager = try ForkTests.manager(path)
            var before: [Int32] = []
            var opened: [Int32] = []
            try manager.whenMigrating(toVersion: "1.1") {
                before = (3..<256).filter(isOpen)
                closeAllDescriptors()
                for _ in 1...8 { opened.append(open(path + "/data", O_RDONLY)) }
            }
            _exit(opened.allSatisfy(isOpen) && opened.contains(where: before.contains) ? 0 : 1)
        }
        #expect(try ForkTests.manager(scratch.path).lastRunVersion == version("1.1"))
        #expect(try scratch.state.names() == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `a waiter whose descriptor was closed goes on waiting`() async throws {
        try scratch.makeFolder("state")
        await #expect(processExitsWith: .success) { [path = scratch.path as String] in
            let location = StateLocation(name: "Library", directory: path + "/state")
            let held = try #require(try FileLock.ifFree(location))
            var wait = try LockWait(location, timeout: nil, .synchronous)
            guard case .pause = try wait.step({}) else { _exit(1) }
            closeAllDescriptors()
            // The lock went with its descriptor, and the app opens files of its own.
            let opened = (1...8).map { _ in open("/dev/null", O_RDONLY) }
            guard case .pause = try wait.step({}), case .taken(let lock) = try wait.step({})
            else {
                _exit(2)
            }
            held.unlock()
            guard
                case .pause = try LockWait(location, timeout: nil, .synchronous).tried()
            else { _exit(3) }
            lock.unlock()
            _exit(opened.allSatisfy(isOpen) ? 0 : 4)
        }
    }

    @Test func `a lock is closed once, whoever has its descriptor then`() throws {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        let lock = try #require(try FileLock.ifFree(location))
        lock.unlock()
        let other = try #require(try FileLock.ifFree(location))
        lock.unlock()
        #expect(try FileLock.ifFree(location) == nil)
        other.unlock()
        let free = try FileLock.ifFree(location)
        #expect(free != nil)
        free?.unlock()
    }
}

extension LockWait {
    fileprivate consuming func tried() throws(LockFailure) -> Step {
        var wait = self
        return try wait.step({})
    }
}
