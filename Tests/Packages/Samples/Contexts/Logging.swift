import AppMigrations
import Testing

#if canImport(OSLog)
import OSLog
#endif

@Suite struct Logging {
    // Sample 1 of MigrationEvent.md

    // Sample 2 of MigrationEvent.md

    @Test func `each event is a line, and those with an error are told apart`() async throws {
        try await withFolder { folder async throws in
            let manager = { (version: String, log: Calls) in
                try MigrationManager(
                    currentVersion: version,
                    stateDirectory: folder,
                    options: loggingOptions { log.add("\($0 ? "error" : "notice") \($1)") }
                )
            }
            let log = Calls()
            _ = try manager("1.0", log)
            let error = try #require(throws: MigrationError.self) {
                try manager("1.1", log).whenMigrating(toVersion: "1.1") { throw Calls.Failure() }
            }
            try manager("1.1", log).whenMigrating(toVersion: "1.1") {}
            let lines = log.take().map { $0.replacing(/, [0-9.e-]+ seconds/, with: ", TIME") }
            #expect(
                lines == [
                    "notice default started 1.1", "error default failed 1.1, TIME: \(error)",
                    "notice default started 1.1, attempt 2", "notice default finished 1.1, attempt 2, TIME",
                ]
            )
        }
    }
}
