@testable import AppMigrations

extension Log {
    /// Options that log each event as its kind, version and attempt, and what only some events have.
    func options(lockTimeout: Duration? = nil, attemptLimit: Int? = nil) -> MigrationManager.Options {
        MigrationManager.Options(lockTimeout: lockTimeout, attemptLimit: attemptLimit) { [self] event in
            var line = "\(event.managerName) \(event.kind)"
            if let version = event.version { line += " \(version)" }
            if let previous = event.previousVersion { line += " from \(previous)" }
            if let attempt = event.attempt { line += " attempt \(attempt)" }
            if let fraction = event.fraction { line += " \(fraction)" }
            if let note = event.note { line += " (\(note))" }
            if let duration = event.duration, duration >= .zero { line += " in time" }
            if let error = event.error { line += ": \(error.code)" }
            add(line)
        }
    }
}

/// A version that a test writes down; one that can't be read is zero, and the test turns red.
func version(_ text: String) -> AppVersion { AppVersion(text) ?? .zero }
