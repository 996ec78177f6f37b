import Testing

@testable import AppMigrations

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
