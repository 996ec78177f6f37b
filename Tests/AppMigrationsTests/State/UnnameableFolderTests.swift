#if os(Linux)
import AppMigrations
import Foundation
import Testing

/// Folders whose names aren't UTF-8, so that no path in Swift can name them.
///
/// Apple's file systems refuse such names.
@Suite(.temporaryDirectory) struct UnnameableFolderTests {
    let scratch = TemporaryDirectory.current

    /// Makes a folder whose name is Latin-1, and returns the bytes of its path.
    private static func makeFolder(in path: String) throws -> [CChar] {
        let name = Array((path + "/caf").utf8) + [0xE9, 0]
        let folder = name.map { CChar(bitPattern: $0) }
        try #require(mkdir(folder, 0o700) == 0)
        return folder
    }

    @Test func `what no text can name can't be synchronized`() throws {
        let folder = try Self.makeFolder(in: scratch.path)
        try #require(symlink(folder, scratch.file("link")) == 0)
        let error = try #require(throws: MigrationError.self) {
            try scratch.manager(upgradingTo: "1.1").whenMigrating(toVersion: "1.1") { context in
                try context.synchronize([scratch.file("link")])
            }
        }
        let cause = try #require(error.underlyingError as? MigrationError)
        #expect((cause.underlyingError as? SystemCallError)?.errorNumber == EILSEQ)
    }

    @Test func `a state directory behind such a folder works`() throws {
        let folder = try Self.makeFolder(in: scratch.path)
        try #require(symlink(folder, scratch.file("link")) == 0)
        #expect(try library("1.1", in: scratch.file("link/state")).declare("1.1") == ["1.1"])
        #expect(try scratch.names("link/state") == ["Library.migrations.json", "Library.migrations.lock"])
    }

    @Test func `a relative path in such a folder is refused`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryDirectory()
            try #require(chdir(try Self.makeFolder(in: scratch.path)) == 0)
            let error = try #require(throws: MigrationError.self) {
                try MigrationManager(named: "Library", currentVersion: "1.1", stateDirectory: "state")
            }
            #expect(error.code == .unusableDirectory)
            #expect(
                error.description
                    == "The state directory \"state\" of manager \"Library\" can't be used: it is relative, and the "
                    + "working directory can't be determined: Invalid or incomplete multibyte or wide character (getcwd, errno "
                    + "84). Nothing was run. Pass the absolute path of a folder as stateDirectory:."
            )
        }
    }
}
#endif
