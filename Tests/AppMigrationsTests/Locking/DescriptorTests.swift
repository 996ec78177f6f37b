import Foundation
import Testing

@testable import AppMigrations

/// The descriptors that the library uses, also when others close them.
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

    /// True if none of the standard streams leads to this file.
    static func isApart(_ descriptor: Int32) throws -> Bool {
        let file = try FileStatus(ofOpen: descriptor).identity
        let open = (Int32(0)...2).filter { fcntl($0, F_GETFD) != -1 }
        return try open.allSatisfy { try FileStatus(ofOpen: $0).identity != file }
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

    @Test func `a lock is closed once, whoever has its descriptor then`() throws {
        let location = StateLocation(name: "Library", directory: scratch.state.path)
        let lock = try #require(try FileLock.takeIfFree(at: location))
        lock.unlock()
        let other = try #require(try FileLock.takeIfFree(at: location))
        lock.unlock()
        #expect(try FileLock.takeIfFree(at: location) == nil)
        other.unlock()
        let free = try FileLock.takeIfFree(at: location)
        #expect(free != nil)
        free?.unlock()
    }
}

/// How two paths are known to lead to one folder.
@Suite(.temporaryDirectory) struct FolderIdentityTests {
    let scratch = TemporaryDirectory.current

    @Test func `it is the folder's, by whatever path, and there is none where nothing is`() throws {
        try scratch.makeFolder("state")
        try scratch.makeFolder("other")
        try scratch.link("link", to: "state")
        try scratch.write("a file", to: "file")
        let identity = try #require(try Platform.identity(ofFolder: scratch.state.path))
        for path in ["state/", "link", "link/", "other/../state"] {
            #expect(try Platform.identity(ofFolder: scratch.file(path)) == identity, "\(path)")
        }
        #expect(try Platform.identity(ofFolder: scratch.file("other")) != identity)
        for path in ["missing", "missing/below", "file/below"] {
            #expect(try Platform.identity(ofFolder: scratch.file(path)) == nil, "\(path)")
        }
    }

    @Test func `a path that can't be followed is an error, and not a folder that is missing`() throws {
        try scratch.link("loop", to: "loop")
        for path in ["loop", String(repeating: "x", count: 300)] {
            #expect(throws: SystemCallError.self, "\(path)") {
                try Platform.identity(ofFolder: scratch.file(path))
            }
        }
    }
}
