import AppMigrations
import Foundation
import Testing

@Suite struct AServerOnOneHost {
    // Sample 1 of AServerOnOneHost.md

    // Sample 2 of AServerOnOneHost.md

    func createStore(_ directory: String) throws {}
    func addIndex(_ directory: String) throws {}

    @Test func `a server that a newer release shut out says so`() async throws {
        try await withFolder { folder async throws in
            let migrations = folder + "/migrations"
            try startServer(dataDirectory: folder, version: "1.3") { _ in }
            let newer = try MigrationManager(named: "Data", currentVersion: "2.0", stateDirectory: migrations)
            try newer.whenMigrating(toVersion: "2.0", minimumAppVersion: "1.9") {}
            let error = #expect(throws: NewerServerNeeded.self) {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            }
            #expect(error?.description == "The data needs 1.9 of the server or newer. Nothing was changed.")
        }
    }

    @Test func `a tag gives its release, and what is none says so`() throws {
        #expect(try release(of: "v2.1.0-5-g1a2b3c4") == "2.1.0")
        let error = #expect(throws: NoRelease.self) { try release(of: "1234567") }
        #expect(error?.description == "The tag \"1234567\" names no release, such as v2.1.")
    }
}
