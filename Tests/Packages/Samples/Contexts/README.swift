import AppMigrations
import AppMigrationsFleet
import AppMigrationsGate
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct README {
    /// The file, whose lines are collected instead of printed.
    func pasted(_ print: (String) -> Void) throws {
        // Sample 1 of README.md
    }

    func startApp(_ folder: String) async throws {
        // Sample 2 of README.md
    }

    func startService<Connection: AsyncSQLConnection & Sendable>(
        connect: @escaping @Sendable () async throws -> Connection
    ) async throws {
        // Sample 3 of README.md
    }

    let calls = Calls()
    func libraryVersion() -> MigrationManager.FirstRun { .existingData(at: "1.0") }
    @Sendable func declareLibrary(_ migrations: MigrationManager) throws {
        try migrations.whenMigrating(toVersion: "1.4") { try calls.note("1.4") }
    }
    func makeTables() throws { try calls.note() }
    func moveAvatars(_ context: FleetMigrationContext) async throws {}
    func fillCache(_ context: FleetMigrationContext) async throws {}
    func serve() async throws {}

    @Test func `the file runs what is new, in order, and a new install and a second start nothing`() throws {
        var lines = [String]()
        try pasted { lines.append($0) }
        let end = "The data is at 1.4."
        let ran = lines.map { $0 == end ? $0 : String($0.prefix { $0 != " " }) }
        #expect(ran == [end, "1.1", "1.1-2", "1.4", end, end])
    }

    @Test func `the gate migrates once, and makes the tables at every start`() async throws {
        try await withFolder { folder async throws in
            for _ in 1...2 { try await startApp(folder) }
            #expect(calls.take() == ["1.4", "makeTables", "makeTables"])
        }
    }
}
