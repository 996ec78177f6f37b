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
        #expect(status.interruption?.version == version("1.2"))
        #expect(status.interruption?.attempts == 1)
    }

    @Test(arguments: [[], ["data"]])
    func `an older app is told before the data changes that it may not use them`(protected: [String]) throws {
        try scratch.write("old\n", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.2")
        let paths = protected.map(scratch.file)
        try manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2", protecting: paths) {
            try Self.expectIntent(scratch)
        }
    }

    @Test(arguments: [[], ["data"]])
    func `an older app is told before an asynchronous closure changes the data`(protected: [String])
        async throws
    {
        try scratch.write("old\n", to: "data")
        let manager = try scratch.manager(upgradingTo: "1.2")
        let paths = protected.map(scratch.file)
        try await manager.whenMigrating(toVersion: "1.2", minimumAppVersion: "1.2", protecting: paths) {
            await Task.yield()
            try Self.expectIntent(scratch)
        }
    }
}
