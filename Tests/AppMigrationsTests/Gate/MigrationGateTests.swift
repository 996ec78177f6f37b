import Foundation
import TestSupport
import Testing

@testable import AppMigrations

/// Counts, from any task.
private actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
}

/// A door that a test opens: a task that comes earlier waits.
private struct Door: Sendable {
    private let door = AsyncStream<Never>.makeStream()
    func pass() async { for await _ in door.stream {} }
    func open() { door.continuation.finish() }
}

@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct MigrationGateTests {
    let folder = TemporaryDirectory.current.path

    @Test func `a hundred doors begin one start, and all of them wait for it`() async throws {
        let starts = Counter()
        let gate = MigrationGate { _ in await starts.add() }
        guard case .idle = gate.state else { throw Refused() }
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await gate.ready() } }
            try await group.waitForAll()
        }
        try await gate.ready()
        #expect(await starts.count == 1)
    }

    @Test func `a screen that looks begins the start, and its states end with ready`() async throws {
        let gate = MigrationGate { _ in }
        var last = MigrationGate.State.idle
        for await state in gate.states { last = state }
        guard case .ready = last else { throw Refused() }
        var later = [MigrationGate.State]()
        for await state in gate.states { later.append(state) }
        #expect(later.count == 1)
    }

    @Test func `a cancelled door throws at once, also one that asks later, and the others wait on`()
        async throws
    {
        let door = Door()
        let begun = Door()
        let gate = MigrationGate { _ in
            begun.open()
            await door.pass()
        }
        let patient = Task { try await gate.ready() }
        let hasty = Task { try await gate.ready() }
        await begun.pass()
        hasty.cancel()
        await #expect(throws: CancellationError.self) { try await hasty.value }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.ready()
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        door.open()
        try await patient.value
    }

    @Test func `a start that threw is told to everybody, and begun again by retry alone`() async throws {
        let starts = Counter()
        let gate = MigrationGate { _ in
            await starts.add()
            if await starts.count == 1 { throw Refused() }
        }
        for _ in 0..<3 { await #expect(throws: Refused.self) { try await gate.ready() } }
        #expect(await starts.count == 1)
        guard case .failed(let error) = gate.state, error is Refused else { throw Refused() }
        gate.retry()
        try await gate.ready()
        gate.retry()
        try await gate.ready()
        #expect(await starts.count == 2)
    }

    @Test(arguments: [unreadable(because: EPERM), MigrationGate.RequiresUnlock()] as [any Error])
    func `a locked device is tried again by itself, and at once when it is unlocked`(locked: any Error)
        async throws
    {
        let isLocked = Guarded(true)
        let pauses = Pauses()
        let gate = MigrationGate(sleep: pauses.sleep) { start in
            if start.isRetry { throw Refused() }
            if isLocked.withLock({ $0 }) { throw locked }
        }
        let asking = Task { try await gate.ready() }
        await pauses.wake(times: 6)
        guard case .waitingForUnlock(let error) = gate.state else { throw Refused() }
        #expect("\(error)" == "\(locked)")
        #expect(await pauses.all == [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000].map(Duration.milliseconds))
        isLocked.withLock { $0 = false }
        gate.retry()
        try await asking.value
    }

    @Test func `a migration that needs an unlocked device runs again after the unlock`() async throws {
        let attempts = Guarded([Int]())
        let gate = MigrationGate(sleep: { _ in }) { _ in
            let migrations = try MigrationManager(
                named: "Library",
                currentVersion: "2.0",
                firstRun: .everything,
                stateDirectory: folder
            )
            try migrations.whenMigrating(toVersion: "2.0") { context in
                attempts.withLock { $0.append(context.attempt) }
                if context.attempt < 3 { throw MigrationGate.RequiresUnlock() }
            }
        }
        try await gate.ready()
        #expect(attempts.withLock { $0 } == [1, 2, 3])
    }

    @Test func `a start knows that it was asked for after an error, up to its end`() async throws {
        let tries = Guarded([Bool]())
        let gate = MigrationGate(sleep: { _ in }) { start in
            let count = tries.withLock {
                $0.append(start.isRetry)
                return $0.count
            }
            switch count {
            case 1, 3: throw MigrationGate.RequiresUnlock()
            case 2, 4, 5: throw Refused()
            default: break
            }
        }
        for _ in 0..<2 {
            await #expect(throws: Refused.self) { try await gate.ready() }
            gate.retry()
        }
        await #expect(throws: Refused.self) { try await gate.ready() }
        gate.retry()
        try await gate.ready()
        #expect(tries.withLock { $0 } == [false, false, true, true, true, true])
    }

    @Test func `a retry that comes before the gate has heard of the error saves one pause, and no later one`()
        async throws
    {
        let starts = Counter()
        let pauses = Counter()
        let gate = MigrationGate(sleep: { _ in await pauses.add() }) { start in
            await starts.add()
            let count = await starts.count
            // The system says that the device is unlocked, between the throw and the pause.
            if count == 1 { start.gate.retry() }
            if count < 3 { throw MigrationGate.RequiresUnlock() }
        }
        try await gate.ready()
        #expect(await starts.count == 3)
        #expect(await pauses.count == 1)
    }

    @Test func `an app that a newer release shut out is told so, and runs nothing`() async throws {
        let newer = try manager("3.0", in: folder)
        try newer.whenMigrating(toVersion: "3.0", minimumAppVersion: "2.5") {}
        let gate = MigrationGate { start in
            try start.migrate(manager("2.0", in: folder, start.options())) { _ in throw Refused() }
        }
        await #expect(throws: MigrationGate.RequiresAppVersion.self) { try await gate.ready() }
        guard case .requiresAppVersion(let version) = gate.state else { throw Refused() }
        #expect(version.description == "2.5")
    }

    @Test func `a closure that finds newer data says which app version it needs`() async throws {
        let gate = MigrationGate { start in
            try start.migrate(manager("3.0", in: folder, start.options())) {
                try $0.whenMigrating(toVersion: "3.0") {
                    let version = try AppVersion(parsing: "3.1")
                    throw MigrationGate.RequiresAppVersion(version: version, managerName: "Notes")
                }
            }
        }
        let error = await #expect(throws: MigrationGate.RequiresAppVersion.self) { try await gate.ready() }
        #expect(error?.version.description == "3.1")
        guard case .requiresAppVersion = gate.state else { throw Refused() }
    }

    @Test func `what the look at old data says of the device and the data counts as the start's own`()
        async throws
    {
        let pauses = Pauses()
        let starts = Guarded(0)
        let gate = MigrationGate(sleep: pauses.sleep) { _ in
            let start = starts.withLock { count in
                count += 1
                return count
            }
            func look() throws -> MigrationManager.FirstRun {
                guard let version = AppVersion("2.1"), start < 4 else { throw Refused() }
                if start == 1 { throw MigrationGate.RequiresUnlock() }
                throw MigrationGate.RequiresAppVersion(version: version, managerName: "Notes")
            }
            _ = try MigrationManager(
                currentVersion: "1.0",
                firstRun: look(),
                stateDirectory: folder + "/state"
            )
        }
        let asking = Task { try await gate.ready() }
        await pauses.wake(times: 0)
        gate.retry()
        let error = await #expect(throws: MigrationGate.RequiresAppVersion.self) { try await asking.value }
        #expect(error?.version.description == "2.1")
        starts.withLock { $0 = 3 }
        gate.retry()
        let failure = await #expect(throws: MigrationError.self) { try await gate.ready() }
        #expect(failure?.code == .firstRunFailed)
    }

    #if canImport(Darwin)
    static let hopeless = [nil, ENOTDIR, ENAMETOOLONG, ELOOP]
    #else
    /// Apple's systems say EACCES of a locked device's file; elsewhere it means missing rights.
    static let hopeless = [nil, ENOTDIR, ENAMETOOLONG, ELOOP, EACCES]
    #endif

    @Test(arguments: hopeless)
    func `the gate doesn't wait where no unlock can help`(cause: Int32?) async throws {
        let gate = MigrationGate(sleep: { _ in throw Refused() }) { start in
            if start.isRetry { return }
            throw unreadable(because: cause)
        }
        for await state in gate.states {
            guard case .waitingForUnlock = state else { if case .failed = state { gate.retry() }; continue }
            throw Refused()
        }
    }

    @Test func `a start that is cancelled says so, also while it waits, and goes on by retry`() async throws {
        let begun = Door()
        let tries = Guarded([Bool]())
        let gate = MigrationGate(sleep: { try await Task.sleep(for: $0 * 1_000) }) { start in
            tries.withLock { $0.append(start.isRetry) }
            if tries.withLock({ $0.count }) > 1 { throw MigrationGate.RequiresUnlock() }
            begun.open()
            while true { try Task.checkCancellation(); await Task.yield() }
        }
        for await state in gate.states {
            await begun.pass()
            if case .planning = state { gate.cancel() }
            if case .cancelled = state { break }
        }
        await #expect(throws: CancellationError.self) { try await gate.ready() }
        gate.retry()
        for await state in gate.states {
            if case .waitingForUnlock = state { gate.cancel() }
            if case .cancelled = state { break }
        }
        await #expect(throws: CancellationError.self) { try await gate.ready() }
        // To go on is no "Try again" after an error.
        #expect(tries.withLock { $0 } == [false, false])
    }

    @Test func `the states end with the gate`() async throws {
        var gate: MigrationGate? = MigrationGate { _ in throw Refused() }
        let states = try #require(gate).states
        for await state in states { if case .failed = state { gate = nil } }
    }
}
