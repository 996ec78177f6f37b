import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import AppMigrationsTesting
import Foundation
import Testing

@testable import NotesExample

/// Every way in which the data of a release comes to the newest one.
struct RehearsalTests {
    private static let newest = Release.all[Release.all.count - 1]

    /// Data of the releases, without the state: it was made before there was this library, for all the kit knows.
    private func withStartingPoints(
        _ releases: [Release],
        _ rehearse: ([StartingPoint]) throws -> RehearsalReport
    ) async throws -> RehearsalReport {
        try await withTemporaryFolder { path async throws in
            var points: [StartingPoint] = []
            for release in releases {
                let folder = NotesFolder(path: "\(path)/\(release.version)")
                try await folder.start(as: release)
                try folder.removeIfThere("Migrations")
                points.append(.version(release.version, copying: folder.path))
            }
            return try rehearse(points)
        }
    }

    private static let library = newest.history.flatMap(\.library)
    private static let preferences = newest.history.flatMap(\.preferences)

    /// The library's own files; the preferences stay as the starting point's release left them.
    private func rehearseLibrary(_ steps: [Step], from releases: [Release] = [.v1_2_5, newest]) async throws
        -> RehearsalReport
    {
        try await withStartingPoints(releases) { points in
            let rehearsal = Rehearsal(
                named: "Library",
                currentVersion: Self.newest.version,
                from: points,
                comparing: [
                    .ignoring("preferences.*"), .comparing("*.sqlite", by: SQLiteComparison().difference),
                ]
            )
            return try rehearsal.run(firstRun: { try found(\.library, in: $0) }) {
                try declare(steps, on: $0, in: $1)
            }
        }
    }

    private func app(in path: String) -> NotesApp {
        NotesApp(release: Self.newest, folder: NotesFolder(path: path), output: { _ in })
    }

    private func declare(_ steps: [Step], on migrations: MigrationManager, in path: String) throws {
        try app(in: path).declare(steps, on: migrations)
    }

    /// What the app says of data that has no state.
    private func found(_ part: KeyPath<NotesApp, Subsystem>, in path: String) throws
        -> MigrationManager.FirstRun
    {
        .existingData(at: try app(in: path)[keyPath: part].found())
    }

    @Test func `the library comes to the newest release from every other one`() async throws {
        let report = try await rehearseLibrary(Self.library, from: Release.all)
        #expect(report.isClean, "\(report)")
        #expect(report.declaredVersions.map(\.description) == Self.library.map(\.version))
        #expect(report.unrehearsedVersions.isEmpty)
        #expect(Set(report.runs.map(\.start)) == Set(Release.all.map(\.version)))
        #expect(report.runs.count { $0.title == "in one jump" } == Release.all.count)
        #expect(report.runs.count { $0.title.hasPrefix("killed after the closure") } >= Self.library.count)
    }

    @Test func `the preferences come to the newest release from every other one`() async throws {
        let report = try await withStartingPoints(Release.all) { points in
            let rehearsal = Rehearsal(
                named: "Preferences",
                currentVersion: Self.newest.version,
                from: points,
                comparing: ["notes.*", "Notes", "tags.json", "index.json", "Previews"].map { .ignoring($0) }
            )
            return try rehearsal.run(firstRun: { try found(\.preferences, in: $0) }) {
                try declare(Self.preferences, on: $0, in: $1)
            }
        }
        #expect(report.isClean, "\(report)")
        #expect(report.unrehearsedVersions.isEmpty)
    }

    @Test func `a migration that is not repeatable is found`() async throws {
        let greeting = Step("1.3", "a line in the first note") { context in
            let notes = try context.folder.names(in: NotesLibrary.notesFolder)
            let year = "\(NotesLibrary.notesFolder)/\(notes[0])"
            let file = try "\(year)/\(context.folder.names(in: year)[0])"
            try context.folder.write(context.folder.read(file) + Data("Welcome to 1.3!\n".utf8), to: file)
        }
        var steps = Self.library
        steps.insert(greeting, at: try #require(steps.firstIndex { $0.version == "1.4" }))
        let report = try await rehearseLibrary(steps)
        let repeated = report.findings.filter { $0.kind == .notRepeatable }
        #expect(Set(repeated.map(\.version?.description)) == ["1.3"])
        let first = try #require(repeated.first)
        #expect(
            first.description
                == "From 1.2.5 to 3.1, killed after the closure of 1.3, and started again: compared with one jump, "
                + "`notes.sqlite` has in the row of note with id 1 text "
                + #"…s AAWelcome to 1.3!\nWelcome to 1.3!\n' and not …s AAWelcome to 1.3!\n'. "#
                + "Migration 1.3 is not repeatable: let it find out what is done already, or name what it changes in "
                + "protecting:."
        )
        // Users of the newest release never get the line: the ladder is wrong in this way too.
        #expect(report.findings.contains { $0.kind == .startsDiffer })
    }

    @Test func `a migration that was forgotten is found`() async throws {
        let newest = try await rehearseLibrary(Self.library.filter { $0.version != Self.newest.version })
        #expect(Set(newest.findings.map(\.kind)) == [.startsDiffer])
        #expect(
            newest.findings.first?.description
                == "From 1.2.5 to 3.1, in one jump: compared with one jump from 3.1, `Previews` is missing."
        )
        let inTheMiddle = try await rehearseLibrary(Self.library.filter { $0.version != "1.4" })
        #expect(inTheMiddle.findings.first?.kind == .failed)
        #expect(
            inTheMiddle.findings.first?.description
                == "From 1.2.5 to 3.1, in one jump: migration 2.0 threw: <data> has no tags.json of 1.4."
        )
    }

    @Test func `a migration that loses a note is found`() async throws {
        let steps = Self.library.map { step in
            guard step.version == "1.4" else { return step }
            return Step(step.version, step.summary) { context in
                try step.run(context)
                for file in try context.library.noteFiles() where file.note.id == 7 {
                    try context.folder.removeIfThere(file.path)
                }
            }
        }
        let report = try await rehearseLibrary(steps)
        #expect(report.findings.map(\.kind) == [.startsDiffer, .startsDiffer])
        #expect(report.findings.first?.path == "Previews/7.txt")
        #expect(
            report.findings.last?.description
                == "From 1.2.5 to 3.1, in one jump: compared with one jump from 3.1, `notes.sqlite` lacks a row of note: "
                + "(id 7, created '2016-02-29', changed '2016-02-29', title '29 February', "
                + #"text 'Next one is in four years.\n')."#
        )
    }
}
