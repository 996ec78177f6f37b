import AppMigrations
import AppMigrationsGate
import Foundation
import TestSupport
import Testing

/// Counts, from any task.
private actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
}

/// A door that a test opens: who comes earlier waits.
private actor Door {
    private var isOpen = false
    private var waiting = [CheckedContinuation<Void, Never>]()

    func pass() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }
}

private struct Refused: Error {}

@Suite(.temporaryDirectory) struct MigrationGateTests {
    let folder = TemporaryDirectory.current.path

    @Test func `a hundred doors begin one start, and all of them wait for it`() async throws {
        let starts = Counter()
        let gate = MigrationGate { _ in await starts.add() }
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await gate.ready() } }
            try await group.waitForAll()
        }
        try await gate.ready()
        #expect(await starts.count == 1)
    }

    @Test func `nothing runs before somebody asks`() async throws {
        let starts = Counter()
        let gate = MigrationGate { _ in await starts.add() }
        guard case .idle = gate.state else { throw Refused() }
        #expect(await starts.count == 0)
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

    @Test func `a cancelled waiter gets its error at once, and the start goes on for the others`()
        async throws
    {
        let door = Door()
        let begun = Door()
        let gate = MigrationGate { _ in
            await begun.open()
            await door.pass()
        }
        let patient = Task { try await gate.ready() }
        let hasty = Task { try await gate.ready() }
        await begun.pass()
        hasty.cancel()
        await #expect(throws: CancellationError.self) { try await hasty.value }
        await door.open()
        try await patient.value
    }

    @Test func `a task that is cancelled before it asks gets its error`() async throws {
        let door = Door()
        let gate = MigrationGate { _ in await door.pass() }
        let asking = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.ready()
        }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await door.open()
        try await gate.ready()
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

    @Test func `a locked device is tried again by itself, and at once when it is unlocked`() async throws {
        let state = folder + "/state"
        let pauses = Pauses()
        let gate = MigrationGate(sleep: { try await pauses.sleep($0) }) { _ in
            _ = try MigrationManager(currentVersion: "1.0", stateDirectory: state)
        }
        // A loop of links can't be read, as a locked device can't.
        try link(state, to: state)
        let asking = Task { try await gate.ready() }
        await pauses.wake(times: 6)
        guard case .waitingForUnlock(let error) = gate.state else { throw Refused() }
        #expect((error as? MigrationError)?.code == .stateUnreadable)
        #expect(
            await pauses.all == [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000].map(Duration.milliseconds)
        )
        try remove(state)
        gate.retry()
        try await asking.value
        guard case .ready = gate.state else { throw Refused() }
    }

    @Test func `a start that asks for the unlock is begun again by itself, as no retry, and leaves nothing`()
        async throws
    {
        let state = folder + "/state"
        let isUnlocked = Guarded(false)
        let pauses = Pauses()
        let gate = MigrationGate(sleep: { try await pauses.sleep($0) }) { progress in
            if progress.isRetry { throw Refused() }
            guard isUnlocked.withLock({ $0 }) else { throw MigrationGate.NeedsUnlock() }
            _ = try MigrationManager(currentVersion: "1.0", stateDirectory: state)
        }
        let asking = Task { try await gate.ready() }
        await pauses.wake(times: 2)
        guard case .waitingForUnlock(let error) = gate.state else { throw Refused() }
        #expect(error is MigrationGate.NeedsUnlock)
        #expect(await pauses.all == [250, 500, 1_000].map(Duration.milliseconds))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        isUnlocked.withLock { $0 = true }
        gate.retry()
        try await asking.value
        guard case .ready = gate.state else { throw Refused() }
    }

    @Test func `a start knows that it was asked for after an error, up to its end`() async throws {
        let tries = Guarded([Bool]())
        let gate = MigrationGate(sleep: { _ in }) { progress in
            let count = tries.withLock {
                $0.append(progress.isRetry)
                return $0.count
            }
            switch count {
            case 1, 3: throw MigrationGate.NeedsUnlock()
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
        let state = folder + "/state"
        try link(state, to: state)
        let starts = Counter()
        let pauses = Counter()
        let gates = Guarded<MigrationGate?>(nil)
        let gate = MigrationGate(sleep: { _ in
            await pauses.add()
            try remove(state)
        }) { _ in
            await starts.add()
            let isFirst = await starts.count == 1
            do {
                _ = try MigrationManager(currentVersion: "1.0", stateDirectory: state)
            } catch {
                // The system says that the device is unlocked, between the throw and the pause.
                if isFirst { gates.withLock { $0 }?.retry() }
                throw error
            }
        }
        gates.withLock { $0 = gate }
        try await gate.ready()
        gates.withLock { $0 = nil }
        #expect(await starts.count == 3)
        #expect(await pauses.count == 1)
    }

    @Test func `an app that a newer release shut out is told so, and runs nothing`() async throws {
        let newer = try MigrationManager(
            currentVersion: "3.0",
            firstRun: .everything,
            stateDirectory: folder
        )
        try newer.whenMigrating(toVersion: "3.0", minimumAppVersion: "2.5") {}
        let gate = MigrationGate { progress in
            let older = try MigrationManager(
                currentVersion: "2.0",
                stateDirectory: folder,
                options: progress.options()
            )
            try progress.migrate(older) { _ in throw Refused() }
        }
        await #expect(throws: MigrationGate.RequiresAppVersion.self) { try await gate.ready() }
        guard case .requiresAppVersion(let version) = gate.state else { throw Refused() }
        #expect(version.description == "2.5")
    }

    @Test func `a start that finds newer data by itself says so, which is no failure`() async throws {
        let starts = Pauses()
        let gate = MigrationGate(sleep: starts.sleep) { _ in
            guard let version = AppVersion("2.1") else { throw Refused() }
            throw MigrationGate.RequiresAppVersion(version: version, managerName: "Notes")
        }
        for _ in 0..<2 {
            let error = await #expect(throws: MigrationGate.RequiresAppVersion.self) {
                try await gate.ready()
            }
            #expect(error?.managerName == "Notes")
            guard case .requiresAppVersion(let version) = gate.state else { throw Refused() }
            #expect(version.description == "2.1")
            gate.retry()
        }
        #expect(await starts.all.isEmpty)
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
                if start == 1 { throw MigrationGate.NeedsUnlock() }
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
        guard case .requiresAppVersion = gate.state else { throw Refused() }
        starts.withLock { $0 = 3 }
        gate.retry()
        let failure = await #expect(throws: MigrationError.self) { try await gate.ready() }
        #expect(failure?.code == .firstRunFailed)
    }
}
