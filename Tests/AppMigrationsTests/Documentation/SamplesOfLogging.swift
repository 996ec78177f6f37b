import AppMigrations

#if canImport(OSLog)
import OSLog
#endif

// The samples of "Logging with swift-log and OSLog", as they stand there.

func line(_ event: MigrationEvent) -> String {
    var line = "\(event.managerName) \(event.kind)"
    if let version = event.version { line += " \(version)" }
    if let attempt = event.attempt, attempt > 1 { line += ", attempt \(attempt)" }
    if let duration = event.duration { line += ", \(duration)" }
    if let error = event.error { line += ": \(error)" }
    return line
}

func loggingOptions(log: @escaping @Sendable (_ isError: Bool, _ message: String) -> Void)
    -> MigrationManager.Options
{
    .init { event in log(event.error != nil, line(event)) }
}

#if canImport(OSLog)
func systemLogOptions() -> MigrationManager.Options {
    let logger = Logger(subsystem: "migrations", category: "start")
    return loggingOptions { isError, message in
        logger.log(level: isError ? .error : .default, "\(message, privacy: .public)")
    }
}
#endif
