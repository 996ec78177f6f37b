import AppMigrations
import Dispatch
import Foundation
import TestSupport
import Testing

// The samples of "Command-line tools and servers", as they stand there.

struct TooOld: Error { let needs: AppVersion }

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
    if let version = migrations.requiredVersion {
        throw TooOld(needs: version)
    }
    try migrations.whenMigrating(toVersion: "1.0") {
        try createStore(dataDirectory)
    }
    try migrations.whenMigrating(toVersion: "1.3") {
        try addIndex(dataDirectory)
    }
}

struct NoRelease: Error { let tag: String }

func release(of tag: String) throws -> String {
    let text = tag.hasPrefix("v") ? tag.dropFirst() : tag[...]
    let release = String(text.prefix { $0 != "-" && $0 != "+" })
    // The hash of `git describe --always` can be a number too.
    guard release.contains(".") else { throw NoRelease(tag: tag) }
    _ = try AppVersion(parsing: release)
    return release
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
        let cause = error.underlyingError as? SystemCallError
        switch error.code {
        case _ where cause?.errorNumber == EACCES: return 77
        case .lockTimeout, .stateUnreadable: return 75
        case .cancelled: return 130
        default: return 70
        }
    } catch {
        report("\(error)")
        return 70
    }
}

func runUntilInterrupted(
    _ start: @escaping @Sendable () async throws -> Void
) async throws {
    let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
        signal(number, SIG_IGN)
        return DispatchSource.makeSignalSource(
            signal: number,
            queue: .global()
        )
    }
    let work = Task.detached { try await start() }
    for source in sources {
        source.setEventHandler { work.cancel() }
        source.activate()
    }
    defer { for source in sources { source.cancel() } }
    try await work.value
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
        #expect(try release(of: text) == expected)
    }

    @Test(
        arguments: [
            "9fe1234", "1234567", "9123456-dirty", "release-2024/v2.1", "v2.1.x", "v2.1.", "v", "", "2",
            "1e2.3", "vv2.1",
        ]
    )
    func `what is no release is no version`(_ text: String) {
        #expect(throws: (any Error).self) { try release(of: text) }
    }

    @Test func `an older build than the data wants runs nothing, and needs a person`() throws {
        try withTemporaryFolder { folder in
            let newer = try MigrationManager(
                named: "Data",
                currentVersion: "2.0",
                firstRun: .everything,
                stateDirectory: folder + "/migrations"
            )
            try newer.whenMigrating(toVersion: "2.0", oldestReader: "1.9") {}
            var said = [String]()
            let code = exitCode {
                try startServer(dataDirectory: folder, version: "1.3") { _ in }
            } report: {
                said.append($0)
            }
            #expect(code == 70 && said.first?.contains("1.9") == true, "\(said)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an interrupted tool ends behind its checkpoint, and no death is counted`(number: Int32) async {
        await #expect(processExitsWith: .success) { [number = number as Int32] in
            try await withTemporaryFolder { folder async throws in
                @Sendable func migrations() throws -> MigrationManager {
                    try MigrationManager(
                        currentVersion: "1.4",
                        firstRun: .everything,
                        stateDirectory: folder
                    )
                }
                let error = await #expect(throws: MigrationError.self) {
                    try await runUntilInterrupted {
                        try migrations().whenMigrating(toVersion: "1.4") { context in
                            var batch = 0
                            while true {
                                batch += 1
                                try context.saveCheckpoint(batch)
                                if batch >= 3 { kill(getpid(), number) }
                            }
                        }
                    }
                }
                #expect(error?.code == .cancelled)
                let left = try #require(try migrations().status.interruption)
                #expect(left.deaths == 0 && (left.checkpoint.flatMap { Int($0) } ?? 0) >= 3, "\(left)")
                #expect(left.failure?.contains("cancelled") == true, "\(left)")
                #expect(try "\(migrations().status)".contains("Failed: 1.4"))
            }
        }
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

    @Test func `a missing right is no reason to try again, and a cancellation is none to report`() {
        func code(_ code: MigrationError.Code, _ errno: Int32?) -> Int32 {
            let cause = errno.map { SystemCallError(call: "open", errorNumber: $0) }
            return exitCode {
                throw MigrationError(code, manager: "Data", path: nil, underlying: cause, "")
            } report: { _ in
            }
        }
        #expect(code(.stateUnreadable, EACCES) == 77)
        #expect(code(.stateNotSaved, EACCES) == 77)
        #expect(code(.stateUnreadable, EIO) == 75)
        #expect(code(.cancelled, nil) == 130)
    }
}
