import AppMigrations
import Dispatch
import Foundation
import Testing

@Suite struct CommandLineToolsAndServers {
    // Sample 1 of CommandLineToolsAndServers.md

    // Sample 2 of CommandLineToolsAndServers.md

    // Sample 3 of CommandLineToolsAndServers.md

    // Sample 4 of CommandLineToolsAndServers.md

    func createStore(_ directory: String) throws {}
    func addIndex(_ directory: String) throws {}

    @Test func `what may pass is worth another try, and a mistake isn't`() async throws {
        try await withFolder { folder async throws in
            var said = [String]()
            func code(_ start: () throws -> Void) -> Int32 { exitCode(of: start) { said.append($0) } }
            func manager(_ version: String, _ state: String = "/migrations") throws -> MigrationManager {
                try MigrationManager(
                    named: "Data",
                    currentVersion: version,
                    firstRun: .everything,
                    stateDirectory: folder + state,
                    options: .init(lockTimeout: .zero)
                )
            }
            let newer = code {
                try manager("2.0").whenMigrating(toVersion: "2.0", minimumAppVersion: "1.9") {}
            }
            #expect(newer == 0 && said == [])
            #expect(code { try startServer(dataDirectory: folder, version: "1.3") { _ in } } == 70)
            #expect(said.first?.contains("1.9") == true, "\(said)")
            #expect(code { _ = try manager("no") } == 70)
            let lock = open(folder + "/migrations/Data.migrations.lock", O_RDWR | O_CLOEXEC)
            defer { close(lock) }
            try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
            #expect(code { try manager("2.1").whenMigrating(toVersion: "2.1") {} } == 75)
            #expect(code { _ = try manager("1.0", "/migrations/Data.migrations.json") } == 75)
            #expect(said.count == 4)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted tool ends behind its checkpoint, and no death is counted`(number: Int32) async {
        await #expect(processExitsWith: .success) { [number = number as Int32] in
            try await withFolder { folder async throws in
                let samples = CommandLineToolsAndServers()
                let error = await #expect(throws: MigrationError.self) {
                    try await samples.runUntilInterrupted {
                        try manager("1.4", in: folder).whenMigrating(toVersion: "1.4") { context in
                            var batch = 0
                            while true {
                                batch += 1
                                try context.saveCheckpoint(batch)
                                if batch >= 3 { kill(getpid(), number) }
                            }
                        }
                    }
                }
                let cancelled = try #require(error)
                #expect(samples.exitCode(of: { throw cancelled }, report: { _ in }) == 130)
                let status = try manager("1.4", in: folder).status
                let left = try #require(status.interruption)
                #expect(left.deaths == 0 && (left.checkpoint.flatMap { Int($0) } ?? 0) >= 3, "\(left)")
                #expect(left.failure == nil && "\(status)".contains("\nInterrupted: 1.4"))
            }
        }
    }
}
