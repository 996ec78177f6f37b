import Foundation
import TestSupport
import Testing

@testable import AppMigrations

/// Work of the app that runs while this library's lock is held.
@Suite(.temporaryDirectory, .timeLimit(.minutes(1))) struct WithLockTests {
    let scratch = TemporaryDirectory.current

    private func impatient() throws -> MigrationManager {
        try scratch.manager(firstRun: .everything, options: .init(lockTimeout: .inVain))
    }

    private static func recordCall() { Issue.record("The closure was called.") }

    private static func called() async { recordCall() }

    /// Runs `body` on another thread, and waits for it.
    private static func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) {
        let thread = OperationQueue()
        thread.addOperation {
            do { try body() } catch { Issue.record(error) }
        }
        thread.waitUntilAllOperationsAreFinished()
    }

    @Test func `nobody else migrates or takes the lock while the closure runs`() throws {
        let others = try [impatient(), impatient()]
        try scratch.manager().withLock {
            Self.onAnotherThread {
                let error = #expect(throws: MigrationError.self) {
                    try others[0].withLock { Self.recordCall() }
                }
                #expect(error?.code == .lockTimeout)
                #expect(error?.description.contains(" The closure of withLock was not called. ") == true)
                let refused = #expect(throws: MigrationError.self) {
                    try others[1].whenMigrating(toVersion: "1.4") { Issue.record("called") }
                }
                #expect(refused?.code == .lockTimeout)
            }
        }
        // The lock was released.
        var calls = 0
        try others[0].withLock { calls += 1 }
        #expect(calls == 1)
    }

    @Test func `nor while an asynchronous closure is suspended`() async throws {
        let other = try impatient()
        try await scratch.manager().withLock {
            await Task.yield()
            let waiting = Task.detached { try await other.withLock { await Self.called() } }
            let error = await #expect(throws: MigrationError.self) { try await waiting.value }
            #expect(error?.code == .lockTimeout)
        }
        try await other.withLock { await Task.yield() }
    }

    @Test func `eight tasks are never inside at the same time`() async throws {
        let log = Log()
        try await withThrowingTaskGroup { group in
            for _ in 1...8 {
                let manager = try scratch.manager()
                group.addTask {
                    try await manager.withLock {
                        log.add("in")
                        for _ in 1...20 { await Task.yield() }
                        log.add("out")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(log.lines == Array(repeating: ["in", "out"], count: 8).flatMap(\.self))
    }

    @Test func `the closure's error is thrown, and the manager and the lock stay usable`() async throws {
        let manager = try scratch.manager(firstRun: .everything)
        #expect(throws: Refusal.self) { try manager.withLock { throw Refusal() } }
        await #expect(throws: Refusal.self) {
            try await manager.withLock {
                await Task.yield()
                throw Refusal()
            }
        }
        #expect(try manager.whenMigrating(toVersion: "1.4") {})
    }

    @Test func `the closure's value is returned`() async throws {
        let manager = try scratch.manager()
        #expect(try manager.withLock { 7 } == 7)
        let text = try await manager.withLock {
            await Task.yield()
            return "seven"
        }
        #expect(text == "seven")
    }

    @Test func `a plan runs nothing, so it has no value to return`() async throws {
        let manager = try scratch.manager(firstRun: .everything)
        var errors: [MigrationError?] = []
        _ = try manager.plan { manager in
            errors.append(
                #expect(throws: MigrationError.self) {
                    try manager.withLock {
                        Self.recordCall()
                        return 7
                    }
                }
            )
        }
        _ = try await manager.plan { manager in
            errors.append(
                await #expect(throws: MigrationError.self) {
                    try await manager.withLock {
                        await Self.called()
                        return 7
                    }
                }
            )
        }
        #expect(errors.map { $0?.code } == [.nested, .nested])
        // The plan closes nothing.
        #expect(try manager.declare("1.4") == ["1.4"])
    }

    @Test func `a declaration in the closure is refused`() async throws {
        for isAsynchronous in [false, true] {
            let manager = try scratch.manager(firstRun: .everything)
            let declare = { try manager.whenMigrating(toVersion: "1.4") { Issue.record("called") } }
            let error = await #expect(throws: MigrationError.self) {
                if isAsynchronous {
                    try await manager.withLock {
                        await Task.yield()
                        _ = try declare()
                    }
                } else {
                    try manager.withLock { _ = try declare() }
                }
            }
            #expect(error?.code == .nested)
        }
    }

    @Test func `so is the call in a closure of the same state`() throws {
        let manager = try scratch.manager(firstRun: .everything)
        let other = try scratch.manager(firstRun: .everything)
        try manager.whenMigrating(toVersion: "1.4") {
            let error = #expect(throws: MigrationError.self) { try other.withLock { Self.recordCall() } }
            #expect(error?.code == .nested)
        }
    }

    @Test func `in a plan, and with a read-only or closed manager, the closure isn't called`() async throws {
        let manager = try scratch.manager(firstRun: .everything)
        let plan = try manager.plan { manager in
            try manager.withLock { Self.recordCall() }
            try manager.whenMigrating(toVersion: "1.4") {}
        }
        #expect(plan.map(\.kind) == [.willRun])
        // A declaration that the plan refuses doesn't hide its reason.
        let refused = try manager.plan { manager in
            try manager.whenMigrating(toVersion: "1.5") {}
            try manager.withLock { Self.recordCall() }
        }
        #expect(refused.map(\.kind) == [.refused])
        let reader = try scratch.manager(options: .init(isReadOnly: true))
        #expect(throws: MigrationError.self) { try reader.withLock { Self.recordCall() } }
        await #expect(throws: MigrationError.self) {
            try await reader.withLock { await Self.called() }
        }
        #expect(throws: MigrationError.self) {
            try manager.whenMigrating(toVersion: "1.4") { throw Refusal() }
        }
        let error = try #require(throws: MigrationError.self) {
            try manager.withLock { Self.recordCall() }
        }
        #expect(error.code == .managerClosed)
        #expect(error.description.hasPrefix("The closure of withLock was not called: manager \"Library\" ("))
    }

    @Test func `a task that was cancelled before the call doesn't call the closure`() async throws {
        let manager = try scratch.manager()
        let cancelled = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            try manager.withLock { Self.recordCall() }
        }
        let error = await #expect(throws: MigrationError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a release that a newer one has excluded after it was started doesn't call the closure`()
        throws
    {
        let older = try scratch.manager("1.3", firstRun: .everything)
        try scratch.manager("1.4").whenMigrating(toVersion: "1.4", minimumAppVersion: "1.4") {}
        let error = try #require(throws: MigrationError.self) {
            try older.withLock { Self.recordCall() }
        }
        #expect(error.code == .usedByNewerApp)
        #expect(
            error.description == """
                Only version 1.4 of the app or a later one may use the data of manager "Library" (\(scratch.stateFile)), and this app is \
                1.3. The closure of withLock was not called. Start version 1.4 or a later one. If the data was replaced with older data, \
                call forgetState, and answer firstRun: with existingData(at:) and the version of that data.
                """
        )
    }

    @Test func `without its state, a manager doesn't call the closure`() throws {
        let manager = try scratch.manager()
        try scratch.remove("Library.migrations.json")
        let error = try #require(throws: MigrationError.self) {
            try manager.withLock { Self.recordCall() }
        }
        #expect(error.code == .stateUnreadable)
    }

    @Test func `a cancelled task doesn't wait`() async throws {
        let other = try scratch.manager()
        try await scratch.manager().withLock {
            let waiting = Task.detached { try await other.withLock { await Self.called() } }
            waiting.cancel()
            let error = await #expect(throws: MigrationError.self) { try await waiting.value }
            #expect(error?.code == .cancelled)
        }
    }
}
