import AppMigrations
import Foundation
import Testing

// The samples of "Several processes", as they stand there, and what they promise.

enum LibraryAccess { case ready, openTheApp, updateTheApp }

func openLibrary(
    in container: URL,
    appVersion: String,
    isExtension: Bool
) throws -> LibraryAccess {
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: appVersion,
        firstRun: libraryVersion(in: container),
        stateDirectory: container.appending(path: "Migrations")
            .path(percentEncoded: false),
        options: .init(
            lockTimeout: isExtension ? .seconds(2) : .seconds(30)
        )
    )
    if case .downgrade = migrations.launch { return .updateTheApp }
    if isExtension {
        let plan = try migrations.plan(declareShared)
        if plan.contains(where: { $0.kind == .willRun }) {
            return .openTheApp
        }
    }
    try declareShared(migrations)
    return .ready
}

func declareShared(_ migrations: MigrationManager) throws {
    try migrations.whenMigrating(toVersion: "2.0") {
        try moveToAppGroup()
    }
    try migrations.whenMigrating(toVersion: "3.2") {
        try renameDrafts()
    }
}

func startWorker(
    dataDirectory: String,
    version: String,
    log: @escaping @Sendable (String) -> Void
) throws -> Bool {
    do throws(MigrationError) {
        let migrations = try MigrationManager(
            named: "Data",
            currentVersion: version,
            firstRun: .everything,
            stateDirectory: dataDirectory + "/migrations",
            options: .init(lockTimeout: .seconds(300)) { event in
                if event.kind == .waiting {
                    log("Another worker migrates the data.")
                }
            }
        )
        try migrations.whenMigrating(toVersion: "1.0") {
            try makeTables(dataDirectory)
        }
        try migrations.whenMigrating(toVersion: "1.3") {
            try addIndexes(dataDirectory)
        }
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
            func open(_ version: String, isExtension: Bool) throws -> (access: LibraryAccess, calls: [String])
            {
                let calls = Calls()
                let access = try calls.during {
                    try openLibrary(in: container, appVersion: version, isExtension: isExtension)
                }
                return (access, calls.names)
            }
            #expect(try open("3.2", isExtension: true) == (.openTheApp, []))
            #expect(try open("3.2", isExtension: false) == (.ready, ["moveToAppGroup", "renameDrafts"]))
            #expect(try open("3.2", isExtension: true) == (.ready, []))
            #expect(try open("2.0", isExtension: false) == (.updateTheApp, []))
        }
    }

    @Test func `a worker says that it waits, and goes on when the other one has finished`() throws {
        try withTemporaryDirectory { directory throws in
            let migrations = directory.path + "/migrations"
            _ = try MigrationManager(named: "Data", currentVersion: "1.0", stateDirectory: migrations)
            let lock = open(migrations + "/Data.migrations.lock", O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
            let log = Log()
            let calls = Calls()
            let isReady = try calls.during {
                try startWorker(dataDirectory: directory.path, version: "1.3") { line in
                    log.add(line)
                    flock(lock, LOCK_UN)
                }
            }
            #expect(isReady && calls.names == ["addIndexes"])
            #expect(log.lines == ["Another worker migrates the data."])
        }
    }

    @Test func `a worker that fails is not taken for one that waited too long`() throws {
        try withTemporaryDirectory { directory throws in
            let error = try #require(throws: MigrationError.self) {
                try Calls(failing: "makeTables").during {
                    _ = try startWorker(dataDirectory: directory.path, version: "1.3", log: { _ in })
                }
            }
            #expect(error.code == .migrationFailed)
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

private func moveToAppGroup() throws { try Calls.note() }
private func renameDrafts() throws { try Calls.note() }
private func makeTables(_ directory: String) throws { try Calls.note() }
private func addIndexes(_ directory: String) throws { try Calls.note() }
