import AppMigrations
import Foundation
import Testing

/// The intent is in the state's file before the closure changes anything, because other processes read it while the closure runs.
@Suite(.temporaryDirectory) struct IntentTests {
    let scratch = TemporaryDirectory.current

    /// Expects that an older app which starts now is told by the file alone that it may not use the data any more.
    private static func expectIntent(_ scratch: TemporaryDirectory) throws {
        let older = try scratch.manager(upgradingTo: "1.1", options: .init(isReadOnly: true))
        #expect(older.requiredAppVersion == version("1.2"))
        #expect(older.launch == .downgrade(from: version("1.2")))
        let status = try older.status
        #expect(status.minimumAppVersion == version("1.2"))
        #expect(status.lastRunVersion == version("1.0"))
        #expect(status.history == [])
        #expect(status.latestAttempt?.version == version("1.2"))
        #expect(status.latestAttempt?.attemptCount == 1)
    }

    @Test func `an older app is told before the data changes that it may not use them`() throws {
        let manager = try scratch.manager(upgradingTo: "1.2")
        try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {
            try Self.expectIntent(scratch)
        }
    }

    @Test func `an older app is told before an asynchronous closure changes the data`() async throws {
        let manager = try scratch.manager(upgradingTo: "1.2")
        try await manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2") {
            await Task.yield()
            try Self.expectIntent(scratch)
        }
    }
}
