import Foundation
import TestSupport
import Testing

@testable import AppMigrations

/// Records what a gate calls, from any task.
private final class CallLog: Sendable {
    private let calls = Guarded([String]())
    var all: [String] { calls.withLock { $0 } }
    func add(_ call: String) { calls.withLock { $0.append(call) } }
}

/// The gate of an app with one manager.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct OneManagerGateTests {
    let folder = TemporaryDirectory.current.path
    private let calls = CallLog()

    private func gate(
        _ version: String = "2.0",
        firstRun: MigrationManager.FirstRun = .existingData(at: "1.0"),
        isUnlocked: @escaping @Sendable () async -> Bool = { true },
        options: MigrationManager.Options = .init(),
        minimumAppVersion: String? = nil,
        _ migrate: @escaping @Sendable () throws -> Void = {}
    ) -> MigrationGate {
        MigrationGate(
            named: "Library",
            currentVersion: version,
            firstRun: {
                calls.add("firstRun")
                return firstRun
            },
            isUnlocked: isUnlocked,
            stateDirectory: folder,
            options: options
        ) { migrations in
            try migrations.whenMigrating(toVersion: "2.0", minimumAppVersion: minimumAppVersion) {
                calls.add("2.0")
                try migrate()
            }
        } afterMigrating: { _ in
            calls.add("after")
        }
    }

    @Test func `it migrates, and prepares the data at every start`() async throws {
        try await gate().ready()
        #expect(calls.all == ["firstRun", "2.0", "after"])
        try await gate().ready()
        #expect(calls.all == ["firstRun", "2.0", "after", "after"])
    }

    @Test func `on a new install it only prepares the data`() async throws {
        try await gate(firstRun: .freshInstall).ready()
        #expect(calls.all == ["firstRun", "after"])
    }

    @Test func `without a state it waits for the unlock, and doesn't ask about files that can't be read`()
        async throws
    {
        let isUnlocked = Guarded(false)
        let gate = gate(isUnlocked: { isUnlocked.withLock { $0 } })
        for await state in gate.states {
            guard case .waitingForUnlock(let error) = state else { continue }
            let cause = (error as? MigrationError)?.underlyingError ?? error
            #expect(cause is MigrationGate.RequiresUnlock)
            break
        }
        #expect(calls.all == [])
        isUnlocked.withLock { $0 = true }
        gate.retry()
        try await gate.ready()
        #expect(calls.all == ["firstRun", "2.0", "after"])
    }

    @Test func `with a state a locked device doesn't matter`() async throws {
        try await gate().ready()
        try await gate(isUnlocked: { false }).ready()
        #expect(calls.all == ["firstRun", "2.0", "after", "after"])
    }

    @Test func `another try lets a migration run that was refused, and only another try does`() async throws {
        for _ in 0..<2 {
            await #expect(processExitsWith: .exitCode(3)) { [folder = folder as String] in
                let gate = MigrationGate(
                    named: "Library",
                    currentVersion: "2.0",
                    firstRun: { .existingData(at: "1.0") },
                    stateDirectory: folder
                ) { migrations in
                    try migrations.whenMigrating(toVersion: "2.0") { exit(3) }
                }
                try await gate.ready()
            }
        }
        let gate = gate(options: .init(attemptLimit: 2))
        for _ in 0..<2 {
            let error = await #expect(throws: MigrationError.self) { try await gate.ready() }
            #expect(error?.code == .attemptLimitReached)
        }
        #expect(calls.all == [])
        gate.retry()
        try await gate.ready()
        #expect(calls.all == ["2.0", "after"])
    }

    @Test func `a release that is too old for the data is told so, and prepares nothing`() async throws {
        try await gate(minimumAppVersion: "2.0").ready()
        let old = MigrationGate(named: "Library", currentVersion: "1.0", stateDirectory: folder) { _ in
        } afterMigrating: { _ in
            calls.add("old")
        }
        await #expect(throws: MigrationGate.RequiresAppVersion.self) { try await old.ready() }
        #expect(calls.all == ["firstRun", "2.0", "after"])
    }

    @Test func `a screen sees the pending migrations, with their weights`() async throws {
        let gate = MigrationGate(
            named: "Library",
            currentVersion: "2.0",
            firstRun: { .everything },
            stateDirectory: folder,
            weights: ["2.0": 3]
        ) { migrations in
            try await migrations.whenMigrating(toVersion: "1.0") { _ in await Task.yield() }
            try await migrations.whenMigrating(toVersion: "2.0") { _ in
                await Task.yield()
                throw Refused()
            }
        }
        await #expect(throws: MigrationError.self) { try await gate.ready() }
        let version = try AppVersion(parsing: "2.0")
        // Only the one that failed is still pending.
        let pending = gate.contents.read { $0.progress.pending }
        #expect(pending.count == 1 && pending[.migration(manager: "Library", version)]?.weight == 3)
    }

    @Test func `a screen sees the note of a migration`() async throws {
        let (gates, continuation) = AsyncStream<MigrationGate>.makeStream()
        let gate = MigrationGate(
            named: "Library",
            currentVersion: "2.0",
            firstRun: { .everything },
            stateDirectory: folder
        ) { migrations in
            try await migrations.whenMigrating(toVersion: "2.0") { context in
                context.reportProgress(0.5, note: "Notes")
                for await gate in gates { calls.add(gate.state.text) }
            }
        }
        continuation.yield(gate)
        continuation.finish()
        try await gate.ready()
        #expect(calls.all == ["migrating 0.5 Notes"])
    }

    @Test func `an error of the preparation ends the start`() async throws {
        let gate = MigrationGate(named: "Library", currentVersion: "2.0", stateDirectory: folder) { _ in
        } afterMigrating: { _ in
            throw Refused()
        }
        await #expect(throws: Refused.self) { try await gate.ready() }
    }
}
