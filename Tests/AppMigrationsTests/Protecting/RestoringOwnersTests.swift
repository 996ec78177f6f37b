import AppMigrations
import Foundation
import Testing

/// Files of this user, in folders of this user: copies keep the owner, or aren't made.
///
/// Only root can give files to others, and `setgroups` differs on Apple's systems.
#if os(Linux)
@Suite(.temporaryDirectory) struct RestoringOwnersTests {
    let scratch = TemporaryDirectory.current

    @Test func `a file comes back with a group that its user is a member of`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            let path = try scratch.write("old", to: "data")
            if geteuid() != 0 { return }
            var groups: [gid_t] = [1_234]
            try #require(lchown(scratch.path, 65_534, 65_534) == 0)
            try #require(chown(path, 65_534, groups[0]) == 0 && chmod(path, 0o660) == 0)
            try #require(setgroups(1, &groups) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
            try scratch.expectPutBack(protecting: [path]) {
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

    @Test(arguments: ["data", "data/file", "data/link"])
    func `somebody else's file is refused before anything runs`(name: String) async {
        await #expect(processExitsWith: .success) { [name = name as String] in
            let scratch = try TemporaryDirectory()
            if geteuid() != 0 { return }
            try scratch.write("old", to: "data/file")
            try scratch.link("data/link", to: "file")
            for name in ["data", "data/file"] { try scratch.setMode(0o777, of: name) }
            try scratch.becomeNobody(but: name)
            let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: scratch.file("data"))
            #expect(error.description.contains("Operation not permitted"), "\(error)")
            try scratch.expectNoCopies()
        }
    }

    /// Its owner could lead root's copies to any file.
    @Test(arguments: ["folder/data", "folder", "."])
    func `root is refused another user's folder, and files beside another user's state`(name: String) throws {
        if geteuid() != 0 { return }
        try scratch.write("old", to: "top/folder/data")
        _ = try scratch.manager(upgradingTo: "1.1")
        let foreign = name == "." ? scratch.state.path : scratch.file("top/folder")
        try #require(chown(foreign, 65_534, 0) == 0)
        let path = name == "." ? scratch.file("top") : scratch.file("top/" + name)
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: path)
        #expect(
            error.description.contains("belongs to user 65534, and this process runs as root."),
            "\(error)"
        )
        #expect(error.path?.hasPrefix(name == "." ? foreign : path) == true)
        #expect(
            error.description.contains(name == "." ? "the state directory belongs" : "top/folder belongs"),
            "\(error)"
        )
        // Without files to protect root goes on.
        try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") {}
    }

    @Test func `root is told of the owner of the protected folder, if the state is that user's too`() throws {
        if geteuid() != 0 { return }
        let path = try scratch.write("old", to: "top/data")
        _ = try scratch.manager(upgradingTo: "1.1")
        for name in ["", "top", "top/data", "state"] {
            try #require(chown(scratch.file(name), 65_534, 0) == 0)
        }
        let error = try scratch.manager(upgradingTo: "1.1").refusal(protecting: path)
        #expect(
            error.description.contains("because \(try scratch.resolved("top")) belongs to user 65534"),
            "\(error)"
        )
        #expect(error.path == path)
    }
}
#endif
