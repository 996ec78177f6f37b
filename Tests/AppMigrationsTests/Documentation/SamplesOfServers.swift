import AppMigrations
import Foundation
import TestSupport
import Testing

// The samples of "Command-line tools and servers", as they stand there.

func startServer(
    dataDirectory: String,
    version: String,
    log: @escaping @Sendable (String) -> Void
) throws {
    let migrations = try MigrationManager(
        named: "Data",
        currentVersion: version,
        firstRun: .everything,
        stateDirectory: dataDirectory + "/migrations",
        options: .init(lockTimeout: .seconds(60)) { event in
            let version = event.version?.description ?? ""
            log("\(event.managerName) \(version) \(event.kind)")
        }
    )
    try migrations.whenMigrating(toVersion: "1.0") {
        try createStore(dataDirectory)
    }
    try migrations.whenMigrating(toVersion: "1.3") {
        try addIndex(dataDirectory)
    }
}

func release(of text: String) -> String {
    let tail = text.drop { !"0123456789".contains($0) }
    return String(tail.prefix { "0123456789.".contains($0) })
}

func exitCode(
    of start: () throws -> Void,
    report: (String) -> Void
) -> Int32 {
    do {
        try start()
        return 0
    } catch let error as MigrationError {
        report("\(error)")
        switch error.code {
        case .lockTimeout, .stateUnreadable: return 75
        default: return 70
        }
    } catch {
        report("\(error)")
        return 70
    }
}

private func createStore(_ directory: String) throws { try Calls.note() }
private func addIndex(_ directory: String) throws { try Calls.note() }

@Suite struct SamplesOfServers {
    @Test(
        arguments: [
            ("v2.1.0-rc.1", "2.1.0"), ("2.1.0-5-g1a2b3c4", "2.1.0"), ("2.1.0+7", "2.1.0"),
            ("2.1.0-1", "2.1.0"), ("2024.01", "2024.01"),
        ]
    )
    func `a tag gives its release`(_ text: String, _ expected: String) throws {
        #expect(release(of: text) == expected)
        _ = try AppVersion(parsing: release(of: text))
    }

    @Test func `a new machine runs all, an older one what it lacks, and each says so`() throws {
        try withTemporaryFolder { folder in
            func start(_ version: String, in directory: String) throws -> (calls: [String], log: [String]) {
                let calls = Calls()
                let log = Log()
                try calls.during {
                    try startServer(dataDirectory: folder + directory, version: version) { log.add($0) }
                }
                return (calls.names, log.lines)
            }
            let new = try start("1.3", in: "/new")
            #expect(new.calls == ["createStore", "addIndex"])
            #expect(
                new.log == ["Data 1.0 started", "Data 1.0 finished", "Data 1.3 started", "Data 1.3 finished"]
            )
            _ = try MigrationManager(
                named: "Data",
                currentVersion: "1.0",
                stateDirectory: folder + "/old/migrations"
            )
            #expect(try start("1.3", in: "/old").calls == ["addIndex"])
            let later = try start("1.3", in: "/old")
            #expect(later.calls == [] && later.log == [])
        }
    }

    @Test func `a lock that another process has is worth another try`() throws {
        try withTemporaryDirectory { folder throws in
            _ = try folder.manager("1.0")
            let lock = open(folder.lockFile, O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
            var said: [String] = []
            let code = exitCode {
                try folder.manager(options: .init(lockTimeout: .zero)).whenMigrating(toVersion: "1.4") {}
            } report: {
                said.append($0)
            }
            #expect(code == 75)
            #expect(said.count == 1)
        }
    }

    @Test func `a state that can't be read is worth another try, and a mistake isn't`() throws {
        try withTemporaryFolder { folder in
            var said = [String]()
            func code(_ version: String, _ directory: String) -> Int32 {
                exitCode {
                    _ = try MigrationManager(currentVersion: version, stateDirectory: directory)
                } report: {
                    said.append($0)
                }
            }
            #expect(code("1.0", folder) == 0)
            #expect(code("no", folder) == 70)
            #expect(code("1.0", folder + "/default.migrations.json") == 75)
            #expect(said.count == 2)
        }
    }
}
