import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import Foundation
import Testing

@testable import AppStart

@Suite struct README {
    func startApp(_ library: URL) async throws {
        let data = library.appending(path: "Data")
        // Sample 2 of README.md
    }

    func startService<Connection: AsyncSQLConnection & Sendable>(
        connect: @escaping @Sendable () async throws -> Connection
    ) async throws {
        // Sample 3 of README.md
    }

    let calls = Calls()
    nonisolated func makeTables() throws { try calls.note() }
    func moveAvatars(_ context: FleetMigrationContext) async throws {}
    func fillCache(_ context: FleetMigrationContext) async throws {}
    func serve() async throws {}

    @Test func `the gate migrates once, and makes the tables at every start`() async throws {
        try await withFolder { folder async throws in
            let settings = folder + "/Data/settings"
            try FileManager.default.createDirectory(
                atPath: folder + "/Data",
                withIntermediateDirectories: false
            )
            for isFirst in [true, false] {
                try write("", to: settings)
                try await startApp(URL(filePath: folder))
                #expect(try read(settings).isEmpty != isFirst)
            }
            #expect(calls.take() == ["makeTables", "makeTables"])
        }
    }
}
