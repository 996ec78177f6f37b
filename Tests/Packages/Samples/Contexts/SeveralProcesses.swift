import AppMigrations
import Foundation
import Testing

@Suite struct SeveralProcesses {
    // Sample 1 of SeveralProcesses.md

    let calls = Calls()
    func libraryVersion(in folder: URL) -> MigrationManager.FirstRun { .existingData(at: "1.0") }
    func declareLibrary(_ migrations: MigrationManager) throws {
        try migrations.whenMigrating(toVersion: "2.0") { calls.add("moveToAppGroup") }
        try migrations.whenMigrating(toVersion: "3.2") { calls.add("renameDrafts") }
    }

    @Test func `an extension leaves the update to the app, and an older app leaves newer data alone`()
        async throws
    {
        try await withFolder { folder async throws in
            let open = { version, isExtension in
                try openLibrary(in: URL(filePath: folder), appVersion: version, isExtension: isExtension)
            }
            #expect(try open("3.2", true) == .openTheApp)
            #expect(calls.take() == [])
            #expect(try open("3.2", false) == .ready)
            #expect(calls.take() == ["moveToAppGroup", "renameDrafts"])
            #expect(try open("3.2", true) == .ready)
            #expect(try open("2.0", false) == .updateTheApp)
            #expect(calls.take() == [])
        }
    }
}
