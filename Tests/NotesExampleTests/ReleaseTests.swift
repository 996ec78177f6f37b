import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct ReleaseTests {
    let folder = NotesFolder.current

    /// From each release to the newest one, or at night from each to itself and to each later one.
    static let pairs: [(Release, Release)] = Thoroughness.ordinarily(
        Release.all.map { ($0, .latest) },
        everything: Release.all.enumerated().flatMap { index, older in
            Release.all[index...].map { (older, $0) }
        }
    )

    @Test(arguments: pairs)
    func `every note and preference comes through a jump`(from older: Release, to newer: Release) async throws
    {
        try await folder.start(as: older)
        #expect(try folder.notes == Sample.notes)
        try await folder.start(as: newer)
        #expect(try folder.notes == Sample.notes)
        #expect(try folder.preferences == Sample.preferences)
    }

    @Test func `every note and preference comes through all releases one by one`() async throws {
        for release in Release.all {
            for _ in 1...2 {
                try await folder.start(as: release)
                #expect(try folder.notes == Sample.notes, "\(release.version)")
                #expect(try folder.preferences == Sample.preferences, "\(release.version)")
            }
        }
    }

    @Test(arguments: [Release.v2_0, .v2_1])
    func `a database that comes back from a backup is brought up by the next start`(older: Release)
        async throws
    {
        try await folder.start(as: older)
        let backup = try folder.read(NotesDatabase.file)
        try await folder.start(as: .latest)
        try folder.replace(NotesDatabase.file, with: backup)
        try await folder.start(as: .latest)
        let database = try NotesDatabase(path: folder.path(of: NotesDatabase.file))
        #expect(try database.schema() == .colors)
        #expect(try folder.notes == Sample.notes)
    }

    @Test(
        arguments: zip(
            Release.all,
            [
                ["notes.json", "preferences.txt"], ["Notes", "preferences.txt"],
                ["Notes", "preferences.json"],
                ["notes.sqlite", "preferences.json"], ["notes.sqlite", "preferences.json"],
                ["notes.sqlite", "preferences.json"], ["Previews", "notes.sqlite", "preferences.json"],
            ]
        )
    )
    func `a release leaves its own files and no others`(release: Release, names: [String]) async throws {
        try await folder.start(as: release)
        #expect(
            try folder.names()
                == (names + ["Migrations"]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        )
        let files = try folder.paths.filter { $0.hasPrefix("Notes/") }
        let expected = try names.contains("Notes") ? Sample.notes.map { "Notes/\($0.id).json" } : []
        #expect(Set(files) == Set(expected))
    }

    @Test func `a step that is done already changes nothing when it is repeated`() async throws {
        try await folder.start(as: .v1_0)
        let context = StepContext(folder: folder, reportProgress: { _, _ in })
        for step in Release.all.flatMap({ $0.library + $0.preferences }) {
            try step.run(context)
            let paths = try folder.paths
            try step.run(context)
            #expect(try folder.paths == paths, "\(step.version)")
            #expect(try folder.notes == Sample.notes, "\(step.version)")
            #expect(try folder.preferences == Sample.preferences, "\(step.version)")
        }
    }
}
