import AppMigrations
import AppMigrationsTesting
import Foundation
import Testing

@testable import NotesExample

/// Every way in which the data of a release comes to the newest one.
struct RehearsalTests {
    private static let newest = Release.all[Release.all.count - 1]

    /// Data of every release, without the state: it was made before there was this library, for all the kit knows.
    private static let startingPoints = Release.all.map { release in
        StartingPoint.version(release.version) { path in
            let folder = NotesFolder(path: path)
            try folder.start(as: release)
            try folder.removeIfThere("Migrations")
        }
    }

    private static let library = newest.history.flatMap(\.library)
    private static let preferences = newest.history.flatMap(\.preferences)

    /// The steps bring what they write to the medium, which a rehearsal need not wait for.
    private static var memory: String? {
        FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
    }

    /// The library's own files; the preferences stay as the starting point's release left them.
    private func rehearseLibrary(_ steps: [Step]) throws -> RehearsalReport {
        let rehearsal = Rehearsal(
            named: "Library",
            currentVersion: Self.newest.version,
            from: Self.startingPoints,
            comparing: [.ignoring("preferences.*")],
            workingDirectory: Self.memory
        )
        return try rehearsal.run { try declare(steps, on: $0, in: $1) }
    }

    private func declare(_ steps: [Step], on migrations: MigrationManager, in path: String) throws {
        let app = NotesApp(release: Self.newest, folder: NotesFolder(path: path), output: { _ in })
        try app.declare(steps, on: migrations)
    }

    @Test func `the library comes to the newest release from every other one`() throws {
        let report = try rehearseLibrary(Self.library)
        #expect(report.isClean, "\(report)")
        #expect(report.declaredVersions.map(\.description) == Self.library.map(\.version))
        #expect(report.unrehearsedVersions.isEmpty)
        #expect(Set(report.runs.map(\.start)) == Set(Release.all.map(\.version)))
        #expect(report.runs.count { $0.title == "in one jump" } == Release.all.count)
        #expect(report.runs.count { $0.title.hasPrefix("killed after the closure") } >= Self.library.count)
    }

    @Test func `the preferences come to the newest release from every other one`() throws {
        let rehearsal = Rehearsal(
            named: "Preferences",
            currentVersion: Self.newest.version,
            from: Self.startingPoints,
            comparing: ["notes.txt", "Notes", "tags.json", "index.json"].map { .ignoring($0) },
            workingDirectory: Self.memory
        )
        let report = try rehearsal.run { try declare(Self.preferences, on: $0, in: $1) }
        #expect(report.isClean, "\(report)")
        #expect(report.unrehearsedVersions.isEmpty)
    }

    @Test func `a migration that is not repeatable is found`() throws {
        let greeting = Step(version: "1.3", summary: "a line in the first note", points: []) { context in
            let notes = try context.folder.names(in: NotesLibrary.notesFolder)
            let year = "\(NotesLibrary.notesFolder)/\(notes[0])"
            let file = try "\(year)/\(context.folder.names(in: year)[0])"
            try context.folder.write(context.folder.read(file) + Data("Welcome to 1.3!\n".utf8), to: file)
        }
        var steps = Self.library
        steps.insert(greeting, at: try #require(steps.firstIndex { $0.version == "1.4" }))
        let report = try rehearseLibrary(steps)
        let repeated = report.findings.filter { $0.kind == .notRepeatable }
        #expect(Set(repeated.map(\.version?.description)) == ["1.3"])
        let first = try #require(repeated.first)
        #expect(
            first.description.hasPrefix(
                "From 1.0 to 2.0, killed after the closure of 1.3, and started again: compared with one jump, "
            )
        )
        #expect(
            first.description.hasSuffix(
                #"should not be there: "Welcome to 1.3!". Migration 1.3 is not repeatable: let it find out what is done "#
                    + "already, or name what it changes in protecting:."
            )
        )
        // Users at 1.4 and later never get the line: the ladder is wrong in this way too.
        #expect(report.findings.contains { $0.kind == .startsDiffer })
    }

    @Test func `a migration that was forgotten is found`() throws {
        let report = try rehearseLibrary(Self.library.filter { $0.version != "2.0" })
        let first = try #require(report.findings.first)
        #expect(first.kind == .startsDiffer)
        #expect(
            first.description
                == "From 1.0 to 2.0, in one jump: compared with one jump from 2.0, `index.json` is missing."
        )
        let inTheMiddle = try rehearseLibrary(Self.library.filter { $0.version != "1.4" })
        #expect(inTheMiddle.findings.first?.kind == .failed)
        #expect(
            inTheMiddle.findings.first?.description
                == "From 1.0 to 2.0, in one jump: migration 2.0 threw: <data> has no tags.json of 1.4."
        )
    }

    @Test func `a migration that loses a note is found`() throws {
        let steps = Self.library.map { step in
            guard step.version == "1.4" else { return step }
            return Step(version: step.version, summary: step.summary, points: step.points) { context in
                try step.run(context)
                for file in try context.library.noteFiles() where file.note.id == 7 {
                    try context.folder.removeIfThere(file.path)
                }
            }
        }
        let report = try rehearseLibrary(steps)
        let lost = report.findings.filter { $0.kind == .startsDiffer }
        #expect(Set(lost.map { $0.description.prefix { $0 != "," } }).count == 3, "\(report)")
        #expect(
            lost.contains { finding in
                finding.path?.hasPrefix("Notes/") == true && finding.description.hasSuffix("is missing.")
            },
            "\(report)"
        )
    }
}
