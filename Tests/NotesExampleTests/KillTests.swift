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
        #expect(try folder.paths.allSatisfy { !$0.hasSuffix(".new") })
    }

    @Test func `a long step that is killed goes on where it saved how far it came`() async throws {
        try await folder.start(as: .named("3.0"))
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            try await NotesFolder(path: path).dies(atPause: 25)
        }
        #expect(try folder.names(in: "Previews.new").count == 25)
        let before = try folder.modified("Previews.new/1.txt")
        let (output, pauses) = try await folder.startCountingPauses()
        #expect(try pauses == Sample.notes.count - 20)
        #expect(output.contains("again    3.1: attempt 2"), "\(output)")
        #expect(
            !output.contains("running  3.1: 27 %") && output.contains("running  3.1: 40 %"),
            "\(output)"
        )
        #expect(try folder.modified("Previews/1.txt") == before)
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
    /// Starts the newest release, and kills the process while it works through the notes.
    func dies(atPause last: Int) async throws {
        let pauses = Log()
        let pause: @Sendable () -> Void = {
            pauses.output("")
            if pauses.lines.count == last { kill(getpid(), SIGKILL) }
        }
        try await start(as: .latest, pause: pause)
    }

    fileprivate func startCountingPauses() async throws -> (output: String, pauses: Int) {
        let pauses = Log()
        let output = try await start(as: .latest, pause: { pauses.output("") })
        return (output, pauses.lines.count)
    }

    /// A later time says that the file was written again.
    fileprivate func modified(_ name: String) throws -> Date {
        try #require(
            FileManager.default.attributesOfItem(atPath: path(of: name))[.modificationDate] as? Date
        )
    }

    /// Starts the app in the process of an exit test.
    func dies(as version: String, at point: String) async throws {
        try await start(as: .named(version), reached: { if $0 == point { kill(getpid(), SIGKILL) } })
    }
}
