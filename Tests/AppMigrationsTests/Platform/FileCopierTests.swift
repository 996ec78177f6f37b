#if os(Linux)
import Foundation
import Testing

@testable import AppMigrations

/// A file system without clones is asked once, however many files there are.
@Suite(.temporaryDirectory) struct FileCopierTests {
    let scratch = TemporaryDirectory.current

    /// Copies three files with a copier whose clones all end with one error number; returns how often it asked for one.
    private func clonesAskedFor(ending number: Int32) throws -> Int {
        var asked = 0
        let copier = FileCopier { _, _ in
            asked += 1
            return number
        }
        for name in ["one", "two", "three"] {
            try scratch.write(name, to: name)
            try copier.copy(scratch.file(name), to: scratch.file("copy of \(name)")) { _ in }
            #expect(try scratch.read("copy of \(name)") == name)
        }
        return asked
    }

    @Test(arguments: [EOPNOTSUPP, EXDEV, EBADF, ENOTTY, EPERM, ENOSYS])
    func `a file system that refuses a clone is not asked again`(number: Int32) throws {
        #expect(try clonesAskedFor(ending: number) == 1)
    }

    @Test(arguments: [EINVAL, ENOSPC])
    func `it is asked again after a refusal that is about one file`(number: Int32) throws {
        #expect(try clonesAskedFor(ending: number) == 3)
    }
}
#endif
