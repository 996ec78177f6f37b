import Foundation
import Testing

@testable import AppMigrations

/// Whose files are once they were put back.
@Suite struct RestoringOwnersTests {
    // `setgroups` differs on Apple's systems.
    #if os(Linux)
    /// Another user's file, which this user shares by a group.
    ///
    /// Only root can try it.
    @Test func `a file comes back with a group that its user is a member of`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "data")
            if geteuid() != 0 { return }
            var groups: [gid_t] = [1_234]
            try #require(lchown(scratch.path, 65_534, 65_534) == 0)
            try #require(chown(path, 0, groups[0]) == 0 && chmod(path, 0o660) == 0)
            try #require(setgroups(1, &groups) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            try FileSnapshotTests.expectPutBack(scratch, protecting: [path]) {
                try scratch.remove("data")
                try scratch.write("new", to: "data")
            }
            #expect(try scratch.read("data") == "old")
            var found = stat()
            try #require(stat(path, &found) == 0)
            #expect(found.st_gid == groups[0])
            #expect(found.st_mode & 0o777 == 0o660)
        }
    }
    #endif
}
