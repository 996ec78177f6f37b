import Foundation
import Testing

@testable import AppMigrations

/// Entries of a folder are opened as the walk found them.
@Suite(.temporaryDirectory) struct TreeWalkTests {
    let scratch = TemporaryDirectory.current

    @Test func `a file that has become a link is not followed`() throws {
        try scratch.write("secret", to: "elsewhere")
        try scratch.write("own", to: "folder/file")
        var opened: [String] = []
        try TreeWalk.visit(scratch.file("folder")) { entry, moment throws(SystemCallError) in
            guard moment == .file else { return true }
            do throws(SystemCallError) {
                opened.append(try content(of: entry))
                try Platform.remove(scratch.file("folder/file"))
                #expect(symlink(scratch.file("elsewhere"), scratch.file("folder/file")) == 0)
                opened.append(try content(of: entry))
            } catch {
                opened.append("errno \(error.errorNumber)")
            }
            return true
        }
        #expect(opened == ["own", "errno \(ELOOP)"])
    }

    private func content(of entry: TreeWalk.Entry) throws(SystemCallError) -> String {
        let descriptor = try Platform.openFound(entry)
        defer { Platform.closeAfterReading(descriptor) }
        return String(decoding: try Platform.contents(ofOpen: descriptor, limit: 100) ?? [], as: UTF8.self)
    }
}
