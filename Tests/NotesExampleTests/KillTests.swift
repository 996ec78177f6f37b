import Foundation
import Testing

@testable import NotesExample

/// Real deaths: a process of its own starts the app and kills itself in the middle of a step.
@Suite(.temporaryDirectory) struct KillTests {
    let folder = NotesFolder.current

    static let points = Release.all.flatMap { release in release.points.map { (release.version, $0) } }

    @Test(arguments: points)
    func `a death in the middle of a step loses no note`(version: String, point: String) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = folder.path as String, version = version as String, point = point as String] in
            try await NotesFolder(path: path).dies(as: version, at: point)
        }
        #expect(try folder.notes == Sample.notes)
        #expect(try folder.preferences == Sample.preferences)

        let output = try await folder.start(as: .latest)
        let step = point.prefix { $0 != ":" }
        #expect(output.contains("again    \(step): attempt 2, the last one did not finish"), "\(output)")
        #expect(try folder.notes == Sample.notes)
        #expect(try folder.preferences == Sample.preferences)
        #expect(try folder.paths.allSatisfy { !$0.hasSuffix(".new") && !$0.hasSuffix(".old") })
    }

    @Test func `a long step that is killed goes on where it saved how far it came`() async throws {
        try await folder.start(as: .named("3.0"))
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try await NotesFolder(path: path).dies(as: "3.1", at: "3.1:half-written")
        }
        let written = try folder.names(in: "Previews.new")
        #expect(written.count == 38)
        // What is written again loses its mark.
        for name in written { try folder.write(Data("mark".utf8), to: "Previews.new/\(name)") }
        let output = try await folder.start(as: .latest)
        #expect(output.contains("again    3.1: attempt 2"), "\(output)")
        #expect(
            !output.contains("running  3.1: 40 %") && output.contains("running  3.1: 54 %"),
            "\(output)"
        )
        let kept = try written.filter { try folder.read("Previews/\($0)") == Data("mark".utf8) }
        #expect(Set(kept) == Set((1...30).map { "\($0).txt" }))
        #expect(try folder.names(in: "Previews").count == Sample.notes.count)
    }

    @Test func `dying at every point in turn, in one folder, loses and doubles no note`() async throws {
        // Preferences migrate after the library, whatever the number.
        let points = Release.all.flatMap(\.points)
        let inOrder = points.filter { $0 < "1.2" || $0 > "1.3" } + points.filter { "1.2"..."1.3" ~= $0 }
        for point in inOrder {
            await #expect(processExitsWith: .signal(SIGKILL), "\(point)") {
                [path = folder.path as String, point = point as String] in
                try await NotesFolder(path: path).dies(as: "3.1", at: point)
            }
            #expect(try folder.notes == Sample.notes, "\(point)")
        }
        try await folder.start(as: .latest)
        #expect(try folder.notes == Sample.notes)
    }
}

extension NotesFolder {
    /// Starts the app in the process of an exit test.
    func dies(as version: String, at point: String) async throws {
        try await start(as: .named(version), reached: { if $0 == point { kill(getpid(), SIGKILL) } })
    }
}
