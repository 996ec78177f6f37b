import AppMigrations
import AppMigrationsSQLite
import Testing

/// The connection of a declaration is opened when the closure may have to run, and at no other start.
@Suite(.temporaryDirectory) struct VersionInDatabaseOpeningTests {
    let folder = TemporaryDirectory.current.path

    struct Opened: Error {}

    private func manager(_ folder: String, _ firstRun: MigrationManager.FirstRun) throws -> MigrationManager {
        try MigrationManager(
            named: "Library",
            currentVersion: "1.4",
            firstRun: firstRun,
            stateDirectory: folder + "/state"
        )
    }

    private func open() throws -> SQLiteConnection { throw Opened() }

    private func openAwaited() async throws -> AwaitedConnection {
        await Task.yield()
        throw Opened()
    }

    private func declare(_ migrations: MigrationManager) throws {
        try migrations.whenMigrating(toVersion: "1.2", in: try open()) { _, _ in }
        try migrations.whenMigrating(toVersion: "1.3", in: try open()) { _, _ in }
        try migrations.whenMigrating(toVersion: "1.4", in: try open()) { _, _, _ in .done }
    }

    private func declareAwaited(_ migrations: MigrationManager) async throws {
        try await migrations.whenMigrating(toVersion: "1.3", in: try await openAwaited()) { _, _ in }
        try await migrations.whenMigrating(toVersion: "1.4", in: try await openAwaited()) { _, _ in }
    }

    @Test(arguments: [.freshInstall, .existingData(at: "1.4")] as [MigrationManager.FirstRun])
    func `a fresh install and a start with nothing pending open nothing`(
        firstRun: MigrationManager.FirstRun
    ) async throws {
        for _ in 1...2 {
            try declare(try manager(folder, firstRun))
            try await declareAwaited(try manager(folder + "/awaited", firstRun))
        }
    }

    @Test func `a plan opens nothing, and says what would run`() async throws {
        let plan = try manager(folder, .existingData(at: "1.2")).plan(declare)
        #expect(plan.map(\.kind) == [.baseline, .willRun, .willRun])
        let awaited = try await manager(folder, .existingData(at: "1.2")).plan(declareAwaited)
        #expect(awaited.map(\.kind) == [.willRun, .willRun])
    }

    @Test func `a declaration that has to run opens`() async throws {
        let errors = [
            #expect(throws: MigrationError.self) {
                try declare(try manager(folder, .existingData(at: "1.0")))
            },
            await #expect(throws: MigrationError.self) {
                try await declareAwaited(try manager(folder + "/awaited", .existingData(at: "1.0")))
            },
        ]
        for error in errors { #expect(error?.underlyingError is Opened) }
    }
}
