import Foundation
import Testing

@testable import NotesExample

/// Real deaths: a process of its own starts the app and kills itself in the middle of a step.
struct KillTests {
    static let points = Release.all.flatMap { release in release.points.map { (release.version, $0) } }

    @Test(arguments: points)
    func `a death in the middle of a step loses no note`(version: String, point: String) async throws {
        try await withNotesFolder { folder throws in
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = folder.path as String, version = version as String, point = point as String] in
                try NotesFolder(path: path).dies(as: version, at: point)
            }
            #expect(try folder.notes == Sample.notes)
            #expect(try folder.preferences == Sample.preferences)

            let output = try folder.start(as: .latest)
            let step = point.prefix { $0 != ":" }
            #expect(output.contains("again    \(step): attempt 2, the last one did not finish"), "\(output)")
            #expect(try folder.notes == Sample.notes)
            #expect(try folder.preferences == Sample.preferences)
            #expect(try folder.paths.allSatisfy { !$0.hasSuffix(".new") })
        }
    }

    @Test func `dying at every point in turn, in one folder, loses and doubles no note`() async throws {
        try await withNotesFolder { folder throws in
            // Preferences migrate after the library, whatever the number.
            let points = Release.all.flatMap(\.points)
            let inOrder = points.filter { $0 < "1.2" || $0 > "1.3" } + points.filter { "1.2"..."1.3" ~= $0 }
            for point in inOrder {
                await #expect(processExitsWith: .signal(SIGKILL), "\(point)") {
                    [path = folder.path as String, point = point as String] in
                    try NotesFolder(path: path).dies(as: "3.0", at: point)
                }
                #expect(try folder.notes == Sample.notes, "\(point)")
            }
            try folder.start(as: .latest)
            #expect(try folder.notes == Sample.notes)
        }
    }
}

extension NotesFolder {
    /// Starts the app in the process of an exit test.
    func dies(as version: String, at point: String) throws {
        try start(as: .named(version), reached: { if $0 == point { kill(getpid(), SIGKILL) } })
    }
}
