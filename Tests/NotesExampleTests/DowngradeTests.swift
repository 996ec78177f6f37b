import AppMigrations
import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct DowngradeTests {
    let folder = NotesFolder.current

    /// From each release to the one before it, or at night to each older one.
    static let pairs: [(Release, Release)] = Thoroughness.ordinarily(
        Array(zip(Release.all.dropFirst(), Release.all)),
        everything: Release.all.enumerated().flatMap { index, newer in
            Release.all[..<index].map { (newer, $0) }
        }
    )

    @Test(arguments: pairs)
    func `an older release leaves the data of a newer one alone`(
        newer: Release,
        older: Release
    ) async throws {
        try await folder.start(as: newer)
        let before = try folder.content
        for _ in 1...2 {
            let output = try await folder.start(as: older, expecting: .refused)
            #expect(
                output.contains(
                    """
                      \(try refusal(by: newer, of: older)), and this is Notes \(older.version)
                        Nothing was migrated, read or changed. Start the newer release again to go on.
                    """
                )
            )
            #expect(try folder.content == before)
        }
        #expect(try await folder.start(as: newer).contains("  Library: same release as last time"))
        #expect(try folder.notes == Sample.notes)
    }

    /// The first manager for whose last step the older release is too old.
    private func refusal(by newer: Release, of older: Release) throws -> String {
        for (name, steps) in [("Library", \Release.library), ("Preferences", \Release.preferences)] {
            let floor = newer.history.flatMap { $0[keyPath: steps] }.last?.version
            let known = older.history.flatMap { $0[keyPath: steps] }.last?.version
            if let floor, floor != known { return "\(name): the data needs Notes \(floor)" }
        }
        throw NotesError("Notes \(older.version) has all steps of \(newer.version).")
    }

    @Test func `a refused start ends with 1`() async throws {
        try await folder.start(as: .v2_0)
        let arguments = ["--data", folder.path, "--version", "1.1"]
        let errors = Log()
        #expect(await EntryPoint.run(arguments, output: Log().output, errors: errors.output) == 1)
        #expect(errors.text.isEmpty)
    }

    @Test(arguments: ReleaseTests.pairs)
    func `without a state the data itself tells where it is`(older: Release, newer: Release) async throws {
        try await folder.start(as: older)
        try folder.removeIfThere("Migrations")
        try await folder.start(as: newer)
        #expect(try folder.notes == Sample.notes)
        #expect(try folder.preferences == Sample.preferences)
    }

    @Test(arguments: pairs)
    func `without a state an older release does not touch newer data`(
        newer: Release,
        older: Release
    ) async throws {
        try await folder.start(as: newer)
        try folder.removeIfThere("Migrations")
        let before = try folder.content
        let error = await #expect(throws: MigrationError.self) { try await folder.start(as: older) }
        #expect(error?.code == .newerThanCurrentVersion)
        #expect(try folder.content == before)
    }
}
