import AppMigrations
import AppMigrationsGate
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct AdoptingInAShippedApp {
    // Sample 1 of AdoptingInAShippedApp.md

    // Sample 2 of AdoptingInAShippedApp.md

    // Sample 1 of FirstRun.md

    @Test func `three old releases are told apart`() async throws {
        try await withFolder { path async throws in
            func answer() throws -> MigrationManager.FirstRun { try notesVersion(in: URL(filePath: path)) }
            #expect(try answer() == .freshInstall)
            try write("", to: path + "/notes.txt")
            #expect(try answer() == .existingData(at: "1.0"))
            try write(#"{"theme":"dark"}"#, to: path + "/settings.json")
            #expect(try answer() == .existingData(at: "2.0"))
            try SQLiteConnection(path: path + "/notes.sqlite").execute(script: "CREATE TABLE note(color)")
            #expect(try answer() == .existingData(at: "3.0-1"))
        }
    }

    let calls = Calls()
    func moveToDatabase(_ folder: URL) throws { try calls.note() }
    func renameDrafts(_ folder: URL) throws { try calls.note() }

    @Test(
        arguments: [
            (nil, []), ("library.plist", ["moveToDatabase", "renameDrafts"]),
            ("library.sqlite", ["renameDrafts"]),
        ] as [(String?, [String])]
    )
    func `the data of each release runs what came after it, once`(file: String?, ran: [String]) async throws {
        try await withFolder { path async throws in
            let folder = URL(filePath: path)
            try FileManager.default.createDirectory(
                at: folder.appending(path: "drafts"),
                withIntermediateDirectories: true
            )
            if let file { try write("", to: path + "/" + file) }
            for expected in [ran, []] {
                _ = try startLibrary(in: folder, appVersion: "3.2")
                #expect(calls.take() == expected)
            }
        }
    }
}
