import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@testable import NotesExample

@Suite(.temporaryDirectory) struct FailureTests {
    let folder = NotesFolder.current

    @Test func `a damaged file stops the migration and is left as it is, and a mended one goes on`()
        async throws
    {
        try await folder.start(as: .v1_0)
        let whole = try folder.read("notes.json")
        try folder.replace("notes.json", with: whole.dropLast(8))
        let before = try folder.content

        let error = await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_0) }
        #expect(error?.code == .migrationFailed)
        let cause = error?.underlyingError as? NotesError
        #expect(cause?.description.hasPrefix("\(folder.path)/notes.json cannot be read: ") == true)
        #expect(try folder.content == before)

        try folder.replace("notes.json", with: whole)
        let output = try await folder.start(as: .v2_0)
        #expect(output.contains("    again    1.1: attempt 2, the last one did not finish"))
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a failure of the library keeps the preferences where they are`() async throws {
        try await folder.start(as: .v1_0)
        try folder.replace("notes.json", with: Data("damaged".utf8))
        await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_0) }
        #expect(try folder.exists("preferences.txt"))
        #expect(try !folder.exists("preferences.json"))
    }

    @Test func `a failure is told on the error stream and ends with 1`() async throws {
        try await folder.start(as: .v1_0)
        try folder.replace("preferences.txt", with: Data("=".utf8))
        let errors = Log()
        let arguments = ["--data", folder.path, "--version", "2.0"]
        #expect(await EntryPoint.run(arguments, output: Log().output, errors: errors.output) == 1)
        #expect(errors.text.hasPrefix("Notes could not start. "))
        #expect(errors.text.contains("preferences.txt, line 1 is not `key=value`"))
    }

    @Test func `notes that are gone are an error and not an empty library`() async throws {
        try await folder.start(as: .v1_1)
        try folder.removeIfThere("Notes")
        let error = await #expect(throws: NotesError.self) { try await folder.start(as: .v2_0) }
        #expect(
            error?.description
                == "\(folder.path) holds no notes but is not empty (Migrations). Name a new or empty folder."
        )
    }

    @Test func `a note that is in two files is an error`() async throws {
        try await folder.start(as: .v1_1)
        try folder.write(folder.read("Notes/6.json"), to: "Notes/copy.json")
        let error = #expect(throws: NotesError.self) { try folder.notes }
        #expect(
            error?.description
                == "Note 6 is in two files, Notes/6.json and Notes/copy.json, of \(folder.path)."
        )
    }

    @Test func `an attempt to build the database that fails leaves the files in force`() async throws {
        try await folder.start(as: .v1_1)
        // A journal that would be rolled back into the new file is in the way, and a note's file is damaged.
        try folder.write(Data("no database".utf8), to: "notes.sqlite.new-journal")
        let router = try folder.read("Notes/6.json")
        try folder.replace("Notes/6.json", with: router.dropLast(8))
        await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_0) }
        #expect(try NotesLibrary(folder: folder).layout() == .filePerNote)
        try folder.replace("Notes/6.json", with: router)
        try await folder.start(as: .v2_1)
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a damaged database is an error and is left as it is`() async throws {
        try await folder.start(as: .v2_0)
        let whole = try folder.read("notes.sqlite")
        try folder.replace("notes.sqlite", with: Data("no database".utf8) + whole.dropFirst(11))
        let before = try folder.content
        let error = await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_1) }
        #expect(error?.underlyingError is SQLError)
        #expect(try folder.content == before)
        try folder.replace("notes.sqlite", with: whole)
        try await folder.start(as: .v2_1)
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a database whose schema no release knows is an error`() async throws {
        try await folder.start(as: .v2_1)
        try SQLiteConnection(path: folder.path(of: "notes.sqlite"))
            .query("INSERT INTO schema_migrations(version) VALUES (4)")
        let error = #expect(throws: NotesError.self) { try folder.notes }
        #expect(
            error?.description
                == "\(folder.path)/notes.sqlite has a schema that this release does not know."
        )
    }
}
