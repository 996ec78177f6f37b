import Foundation
import TestSupport
import Testing

@testable import AppMigrations

/// The gate holds its lock while it resumes or cancels no task: that calls code which may ask the gate, and would stop the app.
///
/// Where a slip would hang, a process of its own runs the test, and is killed after a minute. `Tests/Torture/gate` tries the same by
/// chance.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct GateLockTests {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a task that the gate resumes can ask the gate`() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let resumed = Guarded(0)
            let known = Guarded<MigrationGate?>(nil)
            // Whoever resumes a task calls the task's executor.
            let executor = CallingExecutor {
                guard let gate = known.withLock({ $0 }) else { return }
                _ = gate.state
                resumed.withLock { $0 += 1 }
            }
            let gate = MigrationGate { start in
                while resumed.withLock({ $0 }) < 20 {
                    start.reportProgress(0.5)
                    await Task.yield()
                }
            }
            known.withLock { $0 = gate }
            let screen = Task(executorPreference: executor) { for await _ in gate.states {} }
            try await gate.ready()
            await screen.value
        }
    }

    @Test func `a sleep that the gate cancels can ask the gate`() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let known = Guarded<MigrationGate?>(nil)
            let starts = Guarded(0)
            let sleep = { @Sendable (_: Duration) async throws in
                try await withTaskCancellationHandler {
                    try await Task.sleep(for: .seconds(3_600))
                } onCancel: {
                    _ = known.withLock { $0 }?.state
                }
            }
            let gate = MigrationGate(sleep: sleep) { _ in
                let number = starts.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { throw MigrationGate.RequiresUnlock() }
            }
            known.withLock { $0 = gate }
            for await state in gate.states {
                if case .waitingForUnlock = state { gate.retry() }
            }
            #expect(starts.withLock { $0 } == 2)
        }
    }

    @Test func `screens that are closed while the state changes stop nothing`() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            for _ in 0..<1_000 {
                let areClosed = Guarded(false)
                let gate = MigrationGate { start in
                    while !areClosed.withLock({ $0 }) {
                        start.reportProgress(0.5)
                        await Task.yield()
                    }
                }
                let screens = (0..<8).map { _ in Task { for await _ in gate.states {} } }
                for screen in screens {
                    await Task.yield()
                    screen.cancel()
                }
                for screen in screens { await screen.value }
                areClosed.withLock { $0 = true }
                try await gate.ready()
            }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `an observer that is woken up late by one thread reads the state that another has set since`()
        async
    {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let isArmed = Guarded(false)
            let stopped = DispatchSemaphore(value: 0)
            let goesOn = DispatchSemaphore(value: 0)
            // The thread that wakes up the first screen stops there, before it wakes up the second one.
            let executor = CallingExecutor {
                let stops = isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if !stops { return }
                stopped.signal()
                goesOn.wait()
            }
            let starts = Guarded<MigrationGate.Attempt?>(nil)
            let end = AsyncStream<Never>.makeStream()
            let gate = MigrationGate { start in
                starts.withLock { $0 = start }
                for await _ in end.stream {}
            }
            let logs = [Log(), Log()]
            let screens = logs.map { log in
                Task(executorPreference: executor) { for await state in gate.states { log.add(state.text) } }
            }
            while starts.withLock({ $0 }) == nil { await Task.yield() }
            let start = try #require(starts.withLock { $0 })
            // Both screens have read the state, and wait for the next one.
            while logs.contains(where: { $0.lines.isEmpty }) || executor.isBusy { await Task.yield() }

            isArmed.withLock { $0 = true }
            let slow = Thread { start.reportProgress(0.25, note: "first") }
            slow.start()
            wait(for: stopped)
            start.reportProgress(0.5, note: "second")
            goesOn.signal()
            while logs.contains(where: { $0.lines.last?.hasSuffix("second") != true }) { await Task.yield() }
            end.continuation.finish()
            for screen in screens { await screen.value }
            for log in logs {
                let states = log.lines.filter { !$0.hasPrefix("planning") }
                #expect(states == ["migrating 0.0 second", "ready"])
            }
        }
    }

    @Test func `a start that cancels itself at once is cancelled`() async {
        for _ in 0..<200 {
            let gate = MigrationGate { start in
                start.gate.cancel()
                try Task.checkCancellation()
            }
            await #expect(throws: CancellationError.self) { try await gate.ready() }
        }
    }

    @Test func `a cancelled task, too, is told that the data is ready`() async throws {
        let gate = MigrationGate { _ in }
        try await gate.ready()
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.ready()
        }
        late.cancel()
        try await late.value
    }
}

/// Calls a closure on the thread that hands it a job, and runs the job on another one.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class CallingExecutor: TaskExecutor {
    private let onEnqueue: @Sendable () -> Void
    private let jobs = Guarded(0)

    init(_ onEnqueue: @escaping @Sendable () -> Void) { self.onEnqueue = onEnqueue }

    /// True while a job runs, or waits to run.
    var isBusy: Bool { jobs.withLock { $0 } > 0 }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.withLock { $0 += 1 }
        onEnqueue()
        let job = UnownedJob(job)
        DispatchQueue.global().async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.jobs.withLock { $0 -= 1 }
        }
    }
}

/// Blocks the thread, as no asynchronous function may do by itself.
private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
