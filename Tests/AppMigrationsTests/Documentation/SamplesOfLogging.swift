import AppMigrations
import Testing

#if canImport(OSLog)
import OSLog
#endif

// The samples of "Logging with swift-log and OSLog", as they stand there.

func line(_ event: MigrationEvent) -> String {
    var line = "\(event.managerName) \(event.kind)"
    if let version = event.version { line += " \(version)" }
    if let attempt = event.attempt, attempt > 1 {
        line += ", attempt \(attempt)"
    }
    if let duration = event.duration { line += ", \(duration)" }
    if let error = event.error { line += ": \(error)" }
    return line
}

func loggingOptions(
    log: @escaping @Sendable (_ isError: Bool, String) -> Void
) -> MigrationManager.Options {
    .init { event in log(event.error != nil, line(event)) }
}

#if canImport(OSLog)
func systemLogOptions() -> MigrationManager.Options {
    let logger = Logger(subsystem: "migrations", category: "start")
    return loggingOptions { isError, message in
        logger.log(
            level: isError ? .error : .default,
            "\(message, privacy: .public)"
        )
    }
}
#endif

@Suite struct SamplesOfLogging {
    @Test func `each event is a line, and those with an error are told apart`() throws {
        try withTemporaryDirectory { folder throws in
            _ = try folder.manager("1.0")
            let log = Log()
            func start(_ failing: String?) throws {
                let options = loggingOptions { log.add("\($0 ? "error" : "notice") \($1)") }
                try Calls(failing: failing).during {
                    _ = try folder.manager(options: options).whenMigrating(toVersion: "1.1") {
                        try Calls.note("closure")
                    }
                }
            }
            let error = try #require(throws: MigrationError.self) { try start("closure") }
            try start(nil)
            let lines = log.lines.map { $0.replacing(/, [0-9.e-]+ seconds/, with: ", TIME") }
            #expect(
                lines == [
                    "notice Library started 1.1", "error Library failed 1.1, TIME: \(error)",
                    "notice Library started 1.1, attempt 2", "notice Library finished 1.1, attempt 2, TIME",
                ]
            )
        }
    }
}
