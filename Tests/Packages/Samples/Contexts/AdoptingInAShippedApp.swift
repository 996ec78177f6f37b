import AppMigrations
import Foundation
import Testing

@Suite struct AdoptingInAShippedApp {
    // Sample 1 of AdoptingInAShippedApp.md

    // Sample 2 of AdoptingInAShippedApp.md

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
