import AppMigrations
import Foundation
import Testing

// The samples of "Several processes", as they stand there, and what they promise.

enum LibraryAccess { case ready, openTheApp, updateTheApp }

func openLibrary(in container: URL, appVersion: String, isExtension: Bool) throws -> LibraryAccess {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: libraryVersion(in: container),
        stateDirectory: container.appending(path: "Migrations").path(percentEncoded: false),
        options: .init(lockTimeout: isExtension ? .seconds(2) : .seconds(30))
    )
    if case .downgrade = migrations.launch { return .updateTheApp }
    if isExtension, try migrations.plan(declareShared).contains(where: { $0.kind == .willRun }) {
        return .openTheApp
    }
    try declareShared(migrations)
    return .ready
}

func declareShared(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "2.0") { try moveToAppGroup() }
    try migrations.whenMigrating(toVersion: "3.2") { try renameDrafts() }
}

func startWorker(
    dataDirectory: String,
    version: String,
    log: @escaping @Sendable (String) -> Void
) throws -> Bool {
    do {
        let migrations = try MigrationManager(
            named: "Data",
            currentVersion: version,
            firstRun: .everything,
            stateDirectory: dataDirectory + "/migrations",
            options: .init(lockTimeout: .seconds(300)) { event in
                if event.kind == .waiting { log("Waiting: another worker migrates the data.") }
            }
        )
        try migrations.whenMigrating(toVersion: "1.0") { try makeTables(dataDirectory) }
        try migrations.whenMigrating(toVersion: "1.3") { try addIndexes(dataDirectory) }
        return true
    } catch {
        guard error.code == .lockTimeout else { throw error }
        log("\(error)")
        return false
    }
}

@Suite struct SeveralProcessesTests {
    @Test func `an extension leaves the update to the app, and an older app leaves newer data alone`() throws
    {
        try withTemporaryDirectory { directory throws in
            let container = URL(filePath: directory.path)
            try Data().write(to: container.appending(path: "library.plist"))
            #expect(try openLibrary(in: container, appVersion: "3.2", isExtension: true) == .openTheApp)
            #expect(try openLibrary(in: container, appVersion: "3.2", isExtension: false) == .ready)
            #expect(try openLibrary(in: container, appVersion: "3.2", isExtension: true) == .ready)
            #expect(try openLibrary(in: container, appVersion: "2.0", isExtension: false) == .updateTheApp)
        }
    }

    @Test func `workers that start at once all become ready, and one of them migrates`() async throws {
        try await withTemporaryDirectory { directory async throws in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 1...4 {
                    group.addTask {
                        try startWorker(dataDirectory: directory.path, version: "1.3", log: { _ in })
                    }
                }
                for try await isReady in group { #expect(isReady) }
            }
            let migrations = try MigrationManager(
                named: "Data",
                currentVersion: "1.3",
                stateDirectory: directory.path + "/migrations"
            )
            #expect(try migrations.history.map(\.version.description) == ["1.0", "1.3"])
        }
    }
}

private func moveToAppGroup() throws {}
private func renameDrafts() throws {}
private func makeTables(_ directory: String) throws {}
private func addIndexes(_ directory: String) throws {}
