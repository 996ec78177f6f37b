import AppMigrations
import Foundation
import Testing

/// After a throw: nothing is recorded but the attempt, and nothing more runs.
@Suite(.temporaryDirectory) struct MigrationManagerFailureTests {
    let folder = TemporaryDirectory.current

    @Test func `an error of the closure comes back and is not recorded`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        try manager.declare("1.2")
        let error = try manager.failure(of: "1.3")
        #expect(error.code == .migrationFailed)
        #expect(error.version == version("1.3"))
        #expect(error.underlyingError is Failure)
        #expect(
            error.description
                == "Migration 1.3 of manager \"Library\" (\(folder.stateFile)) failed in attempt 1: The disk is full. It is not "
                + "recorded, and runs again with the next manager."
        )
        #expect(manager.lastRunVersion == version("1.2"))
        #expect(try manager.status.history.map(\.version) == [version("1.2")])
        #expect(try folder.stateText().contains("\"failure\" : \"The disk is full.\""))
    }

    @Test func `every later declaration is blocked and names the first failure`() throws {
        let manager = try folder.manager("1.4", after: "1.1")
        let first = try manager.failure(of: "1.2")
        for later in ["1.3", "1.1", "1.4", "9", "1.2"] {
            let error = try manager.refusal(of: later)
            #expect(error.code == .managerClosed)
            #expect((error.underlyingError as? MigrationError)?.code == .migrationFailed)
            #expect(error.description.hasSuffix("The first failure: \(first.description)"))
        }
        #expect(try folder.manager("1.4").declare("1.2", "1.3") == ["1.2", "1.3"])
    }

    @Test(arguments: ["1.5", "1.1", "x"])
    func `a refused declaration closes the manager too`(refused: String) throws {
        let manager = try folder.manager("1.4", after: "1.0")
        try manager.declare("1.2")
        let first = try manager.refusal(of: refused)
        let error = try manager.refusal(of: "1.3")
        #expect(error.code == .managerClosed)
        #expect(error.description.hasSuffix("The first failure: \(first.description)"))
    }

    @Test func `attempts count every start of the closure, across throws and app versions`() throws {
        try folder.writeState(lastRun: "1.1")
        for (index, current) in ["1.2", "1.2", "1.3", "1.4"].enumerated() {
            let manager = try folder.manager(current)
            #expect(throws: MigrationError.self) {
                try manager.whenMigrating(toVersion: "1.2") { context in
                    #expect(context.attempt == index + 1)
                    #expect(context.isRetry == (index > 0))
                    throw Failure()
                }
            }
        }
        let manager = try folder.manager("1.4")
        try manager.declare("1.2")
        #expect(try manager.status.history.map(\.attemptCount) == [5])
        #expect(try !folder.stateText().contains("latestAttempt"))
    }

    @Test func `attempts outlast another migration that comes in between`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        _ = try folder.manager("1.4").failure(of: "1.3")
        let manager = try folder.manager("1.4")
        try manager.declare("1.2")
        let other = "\"otherAttempts\" : [ { \"version\" : \"1.3\", \"attemptCount\" : 1"
        #expect(try folder.stateText().contains(other))
        try manager.whenMigrating(toVersion: "1.3") { context in #expect(context.attempt == 2) }
        #expect(try !folder.stateText().contains("otherAttempts"))
        _ = try folder.manager("1.4").failure(of: "1.3-1")
        // The next release may declare it with addedIn.
        try folder.manager("1.4").declare("1.4")
        #expect(try !folder.stateText().contains("latestAttempt"))
        #expect(try folder.manager("1.4").status.otherAttempts.map(\.version) == [version("1.3-1")])
    }

    @Test func `throws don't count for the limit of attempts`() throws {
        try folder.writeState(lastRun: "1.1")
        let options = MigrationManager.Options(attemptLimit: 1)
        for _ in 1...4 {
            #expect(try folder.manager(options: options).failure(of: "1.2").code == .migrationFailed)
        }
        #expect(try folder.manager(options: options).declare("1.2") == ["1.2"])
    }

    @Test func `a closure that throws CancellationError was cancelled`() throws {
        try folder.writeState(lastRun: "1.1")
        let error = try folder.manager("1.4").failure(of: "1.2", CancellationError())
        #expect(error.code == .cancelled)
        #expect(error.underlyingError is CancellationError)
        let status = try folder.manager("1.4").status
        #expect(status.latestAttempt?.failure == nil && status.latestAttempt?.crashCount == 0)
        #expect(status.description.contains("\nInterrupted: 1.2"))
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    @Test func `an intent that can't be saved runs nothing`() throws {
        try folder.writeState(lastRun: "1.1", launched: "1.4")
        try folder.makeFolder(folder.obstacle)
        let manager = try folder.manager("1.4")
        let error = try manager.refusal(of: "1.2")
        #expect(error.code == .stateNotSaved)
        #expect(error.description.contains(" The file has the old state. Migration 1.2 was not run."))
        try folder.remove(folder.obstacle)
        #expect(try manager.refusal(of: "1.2").code == .managerClosed)
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    @Test func `a record that can't be saved says that the closure ran and will run again`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        let error = try #require(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.2") { try folder.makeFolder(folder.obstacle) }
        }
        #expect(error.code == .stateNotSaved)
        #expect(error.description.contains(" Migration 1.2 ran and will run again."))
        #expect(manager.lastRunVersion == version("1.1"))
        try folder.remove(folder.obstacle)
        let next = try folder.manager("1.4")
        try next.whenMigrating(toVersion: "1.2") { context in #expect(context.attempt == 2) }
        #expect(next.lastRunVersion == version("1.2"))
    }

    @Test func `a failure's text is kept to a thousand characters`() throws {
        try folder.writeState(lastRun: "1.1")
        let long = Failure(description: String(repeating: "ö", count: 1_001))
        _ = try folder.manager("1.4").failure(of: "1.2", long)
        let text = try folder.stateText()
        #expect(text.contains("\"\(String(repeating: "ö", count: 1_000))\""))
        #expect(try folder.manager("1.4").declare("1.2") == ["1.2"])
    }

    /// A character can consist of any number of Unicode scalars, and a state has a limit.
    @Test func `an error of any length leaves a state that can be read`() throws {
        try folder.writeState(lastRun: "1.1")
        let long = Failure(description: "e" + String(repeating: "\u{301}", count: 2 << 20))
        _ = try folder.manager("1.4").failure(of: "1.2", long)
        try folder.manager("1.4").whenMigrating(toVersion: "1.2") { #expect($0.attempt == 2) }
    }

    @Test func `a state that was removed meanwhile is not made again`() throws {
        let manager = try folder.manager("1.4", after: "1.1", launched: "1.4")
        try folder.remove(folder.stateFile)
        let error = try manager.refusal(of: "1.2")
        #expect(error.code == .stateUnreadable)
        #expect(
            error.description.contains(
                "existed when the manager was created, but it no longer exists. Migration 1.2 was not run."
            )
        )
        #expect(throws: MigrationError.self) { try manager.plan { _ in } }
    }
}
