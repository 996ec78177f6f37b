import Testing

@testable import AppMigrations

struct Refusal: Error {}

struct Failure: Error, CustomStringConvertible {
    var description: String = "The disk is full."
}

extension StateVersions {
    /// Returns a copy with other values.
    func changed(_ change: (inout StateVersions) -> Void) -> StateVersions {
        var versions = self
        change(&versions)
        return versions
    }
}

extension MigrationManager {
    /// Declares versions with closures that do nothing, and gives those that ran.
    @discardableResult
    func declare(_ versions: String...) throws(MigrationError) -> [String] {
        var ran: [String] = []
        for version in versions {
            let isRun = try whenMigrating(toVersion: version) { ran.append(version) }
            #expect(isRun == (ran.last == version))
        }
        return ran
    }

    /// Declares a version that `release` added, with a closure that does nothing; true if it ran.
    @discardableResult
    func declare(_ version: String, addedIn release: String) throws(MigrationError) -> Bool {
        try whenMigrating(toVersion: version, addedIn: release) {}
    }

    /// The error of declaring a version whose closure must not run.
    func refusal(of version: String, _ location: SourceLocation = #_sourceLocation) throws -> MigrationError {
        try #require(throws: MigrationError.self, sourceLocation: location) {
            try whenMigrating(toVersion: version) {
                Issue.record("The closure of \(version) ran.", sourceLocation: location)
            }
        }
    }

    /// The error of a migration whose closure throws.
    func failure(of version: String, _ error: any Error = Failure()) throws -> MigrationError {
        try #require(throws: MigrationError.self) { try whenMigrating(toVersion: version) { throw error } }
    }
}

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

extension AttemptedMigration {
    init(_ text: String, _ attemptCount: Int = 1, crashCount: Int = 0, by app: String) {
        self.init(
            AppMigrationsTests.version(text),
            attemptCount: attemptCount,
            crashCount: crashCount,
            by: AppMigrationsTests.version(app)
        )
    }
}

/// Watches a manager, as a rehearsal does.
final class Observer: ManagerObserver {
    private let answer: @Sendable (ObservedMoment) -> ObserverAnswer

    init(_ answer: @escaping @Sendable (ObservedMoment) -> ObserverAnswer) { self.answer = answer }

    func observe(_ moment: ObservedMoment) -> ObserverAnswer { answer(moment) }
}
