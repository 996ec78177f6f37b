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
        let whole = try folder.read("notes.txt")
        try folder.replace("notes.txt", with: whole.dropLast(8))
        let before = try folder.content

        let error = await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_0) }
        #expect(error?.code == .migrationFailed)
        let cause = error?.underlyingError as? NotesError
        #expect(
            cause?.description
                == "\(folder.path)/notes.txt ends without its last line, `end COUNT`: it was cut short."
        )
        #expect(try folder.content == before)

        try folder.replace("notes.txt", with: whole)
        let output = try await folder.start(as: .v2_0)
        #expect(output.contains("    again    1.1: attempt 2, the last one did not finish"))
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a failure of the library keeps the preferences where they are`() async throws {
        try await folder.start(as: .v1_0)
        try folder.replace("notes.txt", with: Data("damaged".utf8))
        await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_0) }
        #expect(try folder.exists("preferences.txt"))
        #expect(try !folder.exists("preferences.json"))
    }

    @Test func `a failure is told on the error stream and ends with 1`() async throws {
        try await folder.start(as: .v1_0)
        try folder.replace("preferences.txt", with: Data("=".utf8))
        let errors = Log()
        let arguments = ["--data", folder.path, "--version", "1.4"]
        #expect(await EntryPoint.run(arguments, output: Log().output, errors: errors.output) == 1)
        #expect(errors.text.hasPrefix("Notes could not start. "))
        #expect(errors.text.contains("preferences.txt, line 1 is not `key=value`"))
    }

    @Test func `notes that are gone are an error and not an empty library`() async throws {
        try await folder.start(as: .v2_0)
        try folder.removeIfThere("Notes")
        let error = await #expect(throws: NotesError.self) { try await folder.start(as: .v2_0) }
        #expect(
            error?.description
                == "\(folder.path) holds no notes but is not empty (Migrations). Name a new or empty folder."
        )
    }

    @Test func `a note that the index or the folder misses is an error`() async throws {
        try await folder.start(as: .v2_0)
        let file = "Notes/2016/006 Router.txt"
        let router = try folder.read(file)
        try folder.removeIfThere(file)
        let missing = #expect(throws: NotesError.self) { try folder.notes }
        #expect(missing?.description == "The index has note 6, but its file \(file) is not there.")

        let text = try #require(String(bytes: router, encoding: .utf8))
        try folder.write(router, to: file)
        try folder.write(Data(text.replacing("note 6 ", with: "note 99 ").utf8), to: "Notes/2016/099.txt")
        let unknown = #expect(throws: NotesError.self) { try folder.notes }
        #expect(unknown?.description == "Note 99 has a file but is not in the index.")

        try folder.write(router, to: "Notes/2016/099.txt")
        let twice = #expect(throws: NotesError.self) { try folder.notes }
        #expect(
            twice?.description
                == "Note 6 is in two files, \(file) and Notes/2016/099.txt, of \(folder.path)."
        )
    }

    @Test func `an attempt to build the database that fails leaves the files in force`() async throws {
        try await folder.start(as: .v2_0)
        // A database of somebody else's in the way, and a journal that would be rolled back into the new file.
        try folder.write(Data("no database".utf8), to: "notes.sqlite.new-journal")
        let file = "Notes/2016/006 Router.txt"
        let router = try folder.read(file)
        try folder.removeIfThere(file)
        await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_1) }
        #expect(try NotesLibrary(folder: folder).layout() == .indexed)
        try folder.write(router, to: file)
        try await folder.start(as: .v2_2)
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a damaged database is an error and is left as it is`() async throws {
        try await folder.start(as: .v2_1)
        let whole = try folder.read("notes.sqlite")
        try folder.replace("notes.sqlite", with: Data("no database".utf8) + whole.dropFirst(11))
        let before = try folder.content
        let error = await #expect(throws: MigrationError.self) { try await folder.start(as: .v2_2) }
        #expect(error?.underlyingError is SQLError)
        #expect(try folder.content == before)
        try folder.replace("notes.sqlite", with: whole)
        try await folder.start(as: .v2_2)
        #expect(try folder.notes == Sample.notes)
    }

    @Test func `a database whose schema no release knows is an error`() async throws {
        try await folder.start(as: .v2_2)
        try SQLiteConnection(path: folder.path(of: "notes.sqlite"))
            .query("INSERT INTO schema_migrations(version) VALUES (4)")
        let error = #expect(throws: NotesError.self) { try folder.notes }
        #expect(
            error?.description
                == "\(folder.path)/notes.sqlite has a schema that this release does not know."
        )
    }
}
