import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct ReleaseTests {
    let folder = NotesFolder.current

    /// Every way to skip releases, from each to itself and to each later one.
    static let pairs: [(Release, Release)] = Release.all.enumerated().flatMap { index, older in
        Release.all[index...].map { (older, $0) }
    }

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

    @Test(arguments: [Release.v2_1, .v2_2])
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
                ["notes.txt", "preferences.txt"], ["Notes", "preferences.txt"],
                ["Notes", "preferences.json"],
                ["Notes", "preferences.json", "tags.json"], ["Notes", "index.json", "preferences.json"],
                ["notes.sqlite", "preferences.json"], ["notes.sqlite", "preferences.json"],
            ]
        )
    )
    func `a release leaves its own files and no others`(release: Release, names: [String]) async throws {
        try await folder.start(as: release)
        #expect(
            try folder.names()
                == (names + ["Migrations"]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        )
        #expect(try folder.paths.allSatisfy { !$0.hasSuffix(".new") })
        #expect(
            try folder.paths.count { $0.hasSuffix(".txt") && $0.hasPrefix("Notes/") }
                == (names.contains("Notes") ? Sample.notes.count : 0)
        )
    }

    @Test func `the names of 1.1-1 suit every file system`() throws {
        let names = try Sample.notes.map(NoteFile.cleanName)
        for name in names {
            #expect(name.utf8.count <= 100, "\(name)")
            #expect(
                !name.unicodeScalars.contains { "/\\:*?\"<>|~%$`\0\n\r\t".unicodeScalars.contains($0) },
                "\(name)"
            )
            #expect(!name.hasPrefix(".") && !name.hasPrefix(" ") && !name.hasSuffix(" .txt"), "\(name)")
        }
        #expect(
            Set(names.map { $0.precomposedStringWithCompatibilityMapping.lowercased() }).count == names.count
        )
    }

    @Test(
        arguments: [
            ("Shopping", "007 Shopping.txt"), ("", "007.txt"), ("...", "007.txt"),
            ("a/b\\c:d", "007 a b c d.txt"),
            ("The dog's vet", "007 The dog's vet.txt"), ("cafe\u{301}", "007 caf\u{E9}.txt"),
            ("हिन्दी सीखना", "007 हिन्दी सीखना.txt"), ("👩‍👩‍👧‍👦 birthday 🎂", "007 👩‍👩‍👧‍👦 birthday 🎂.txt"),
            ("Two lines\nin the title", "007 Two lines in the title.txt"),
            (String(repeating: "日", count: 90), "007 \(String(repeating: "日", count: 26)).txt"),
        ]
    )
    func `a title becomes a clean name`(title: String, name: String) {
        let note = Note(id: 7, created: "2016-01-03", title: title, tags: [], text: "")
        #expect(
            Array(NoteFile.cleanName(of: note).utf8) == Array(name.utf8),
            "\(NoteFile.cleanName(of: note))"
        )
    }

    @Test func `a step that is done already changes nothing when it is repeated`() async throws {
        try await folder.start(as: .v1_0)
        let context = StepContext(folder: folder, reportProgress: { _, _ in }, reached: { _ in })
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
