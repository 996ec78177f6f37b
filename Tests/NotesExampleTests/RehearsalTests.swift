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

    /// The first release, which has every step ahead of it, and the newest one; at night each release.
    private static let releases = Thoroughness.ordinarily([.v1_0, newest], everything: Release.all)

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

    /// The app's answer about data that has no state.
    private func found(_ part: KeyPath<NotesApp, Subsystem>, in path: String) throws
        -> MigrationManager.FirstRun
    {
        .existingData(at: try app(in: path)[keyPath: part].found())
    }

    @Test func `the library comes to the newest release from every other one`() async throws {
        let report = try await rehearseLibrary(Self.library, from: Self.releases)
        #expect(report.isClean, "\(report)")
        #expect(report.declaredVersions.map(\.description) == Self.library.map(\.version))
        #expect(report.unrehearsedVersions.isEmpty)
        #expect(Set(report.runs.map(\.start)) == Set(Self.releases.map(\.version)))
        #expect(report.runs.count { $0.title == "in one jump" } == Self.releases.count)
        #expect(report.runs.count { $0.title.hasPrefix("killed after the closure") } >= Self.library.count)
    }

    @Test func `the preferences come to the newest release from every other one`() async throws {
        let report = try await withStartingPoints(Self.releases) { points in
            let rehearsal = Rehearsal(
                named: "Preferences",
                currentVersion: Self.newest.version,
                from: points,
                comparing: ["notes.*", "Notes", "Previews"].map { .ignoring($0) }
            )
            return try rehearsal.run(firstRun: { try found(\.preferences, in: $0) }) {
                try declare(Self.preferences, on: $0, in: $1)
            }
        }
        #expect(report.isClean, "\(report)")
        #expect(report.unrehearsedVersions.isEmpty)
    }

    @Test func `a migration that is not repeatable is found`() async throws {
        let greeting = Step(version: "1.3", summary: "a line in the first note") { context in
            let note = try #require(context.library.notes().first)
            let text = note.text + "Welcome to 1.3!\n"
            let greeted = Note(id: 1, created: note.created, title: note.title, tags: note.tags, text: text)
            try context.folder.writeJSON(greeted, to: "Notes/1.json")
        }
        var steps = Self.library
        steps.insert(greeting, at: try #require(steps.firstIndex { $0.version == "2.0" }))
        let report = try await rehearseLibrary(steps)
        let repeated = report.findings.filter { $0.kind == .notRepeatable }
        #expect(Set(repeated.map(\.version?.description)) == ["1.3"])
        let first = try #require(repeated.first)
        #expect(
            first.description
                == "From 1.2.5 to 3.1, killed after the closure of 1.3, and started again: compared with one jump, "
                + "`notes.sqlite` has a different row of note with id 1: text "
                + #"…s AAWelcome to 1.3!\nWelcome to 1.3!\n' and not …s AAWelcome to 1.3!\n'. "#
                + "Migration 1.3 is not repeatable. Let it check what is already done."
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
        let inTheMiddle = try await rehearseLibrary(Self.library.filter { $0.version != "2.0" })
        #expect(inTheMiddle.findings.first?.kind == .failed)
        #expect(
            inTheMiddle.findings.first?.description
                == "From 1.2.5 to 3.1, in one jump: migration 2.1 threw: "
                + "<data> has its notes as 1.1 left them, not 2.0."
        )
    }
}
