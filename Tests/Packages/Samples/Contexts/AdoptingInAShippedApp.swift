import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@testable import AppStart

@Suite struct AdoptingInAShippedApp {
    // Sample 1 of FirstRun.md

    func makeGate(folder: URL) {
        // Sample 1 of MigrationGate+OneManager.swift
        _ = gate
    }

    @Test func `three old releases are told apart`() async throws {
        try await withFolder { path async throws in
            let answer = { try notesVersion(in: URL(filePath: path)) }
            #expect(try answer() == .freshInstall)
            try write("", to: path + "/notes.txt")
            #expect(try answer() == .existingData(at: "1.0"))
            try write(#"{"theme":"dark"}"#, to: path + "/settings.json")
            #expect(try answer() == .existingData(at: "2.0"))
            try SQLiteConnection(path: path + "/notes.sqlite").execute(script: "CREATE TABLE note(color)")
            #expect(try answer() == .existingData(at: "3.0-1"))
        }
    }

    @Test(
        arguments: [
            ([:], nil), (["Notes/a.txt": ""], "1.0"), (["Notes/a.md": ""], "1.2"), (["settings": ""], "1.2"),
            (["Notes/a.md": "", "Notes/b.txt": ""], "1.0"), (["settings": "format = 2\n"], "1.4"),
        ] as [([String: String], String?)]
    )
    func `the data of each release is told by its files`(files: [String: String], version: String?)
        async throws
    {
        try await withFolder { folder async throws in
            if files.keys.contains(where: { $0.hasPrefix("Notes") }) {
                try FileManager.default.createDirectory(
                    atPath: folder + "/Notes",
                    withIntermediateDirectories: false
                )
            }
            for (file, text) in files { try write(text, to: folder + "/" + file) }
            let told = version.map { MigrationManager.FirstRun.existingData(at: $0) } ?? .freshInstall
            #expect(try libraryVersion(in: URL(filePath: folder)) == told)
        }
    }

    @Test func `settings that can't be read are no new install`() async throws {
        try await withFolder { folder async throws in
            try FileManager.default.createDirectory(
                atPath: folder + "/settings",
                withIntermediateDirectories: false
            )
            #expect(throws: (any Error).self) { try libraryVersion(in: URL(filePath: folder)) }
        }
    }
}
