import AppMigrations
import Foundation
import Testing

@Suite struct CommandLineToolsAndServers {
    // Sample 2 of CommandLineToolsAndServers.md

    // Sample 3 of CommandLineToolsAndServers.md

    func createStore(_ directory: String) throws {}
    func addIndex(_ directory: String) throws {}

    @Test func `a server that a newer release shut out says so`() async throws {
        try await withFolder { folder async throws in
            let migrations = folder + "/migrations"
            try startServer(dataDirectory: folder, version: "1.3") { _ in }
            let newer = try MigrationManager(named: "Data", currentVersion: "2.0", stateDirectory: migrations)
            try newer.whenMigrating(toVersion: "2.0", minimumAppVersion: "1.9") {}
            let error = #expect(throws: TooOld.self) {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            }
            #expect(error?.needs.description == "1.9")
        }
    }
}
