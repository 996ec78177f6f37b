import AppMigrations
import Foundation
import Testing

@testable import NotesExample

struct DowngradeTests {
    static let pairs: [(Release, Release)] = Release.all.enumerated().flatMap { index, newer in
        Release.all[..<index].map { (newer, $0) }
    }

    @Test(arguments: pairs)
    func `an older release leaves the data of a newer one alone`(
        newer: Release,
        older: Release
    ) async throws {
        try await withNotesFolder { folder throws in
            try folder.start(as: newer)
            let before = try folder.content
            for _ in 1...2 {
                let output = try folder.start(as: older, expecting: .refused)
                // The mark may stand at a sub-migration of the newer release: 1.1-1 after 1.1.
                #expect(output.contains("  Library: the data is at \(newer.version)"))
                #expect(
                    output.contains(
                        """
                        , and this is Notes \(older.version)
                            An older release cannot know what a newer one has made of the data, so nothing was
                            migrated, read or changed. Start the newer release again to go on.
                        """
                    )
                )
                #expect(try folder.content == before)
            }
            #expect(try folder.start(as: newer).contains("  Library: same release as last time"))
            #expect(try folder.notes == Sample.notes)
        }
    }

    @Test func `a refused start ends with 1`() async throws {
        try await withNotesFolder { folder throws in
            try folder.start(as: .v2_0)
            let arguments = ["--data", folder.path, "--version", "1.4"]
            let errors = Lines()
            #expect(EntryPoint.run(arguments, output: Lines().output, errors: errors.output) == 1)
            #expect(errors.text.isEmpty)
        }
    }

    @Test(arguments: ReleaseTests.pairs)
    func `without a state the data itself tells where it is`(older: Release, newer: Release) async throws {
        try await withNotesFolder { folder throws in
            try folder.start(as: older)
            try folder.removeIfThere("Migrations")
            try folder.start(as: newer)
            #expect(try folder.notes == Sample.notes)
            #expect(try folder.preferences == Sample.preferences)
        }
    }

    @Test(arguments: pairs)
    func `without a state an older release does not touch newer data`(
        newer: Release,
        older: Release
    ) async throws {
        try await withNotesFolder { folder throws in
            try folder.start(as: newer)
            try folder.removeIfThere("Migrations")
            let before = try folder.content
            let error = #expect(throws: MigrationError.self) { try folder.start(as: older) }
            #expect(error?.code == .newerThanCurrentVersion)
            #expect(try folder.content == before)
        }
    }
}
