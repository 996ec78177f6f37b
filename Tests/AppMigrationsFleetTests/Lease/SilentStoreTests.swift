import AppMigrations
import AppMigrationsFleet
import Testing

/// A store that never answers: a connection that is half open, a pooler that stands still, a server that is frozen.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct SilentStoreTests {
    let fleet = Fleet()

    /// The error with which a call ends, while the clock moves up to a time; `nil` where it doesn't end, or doesn't throw.
    private func end(
        within duration: Duration,
        of call: @escaping @Sendable () async throws -> Void
    ) async throws -> MigrationError? {
        let task = Call { () async -> MigrationError? in
            do { try await call() } catch { return error as? MigrationError }
            return nil
        }
        try await fleet.pass(duration) { task.hasEnded }
        if task.hasEnded { return try await task.value }
        task.cancel()
        return nil
    }

    @Test func `a start ends after half a lease`() async throws {
        fleet.store.onRead { _ in .stalls }
        let error = try await end(within: .seconds(16)) { _ = try await fleet.host() }
        #expect(error?.code == .stateUnreadable)
        #expect(error?.description.contains("there was no answer within 15.0 seconds") == true)
        fleet.store.works()
    }

    @Test func `a wait with a time-out ends with it, whatever the lease`() async throws {
        let host = try await fleet.host { $0.lockTimeout = .seconds(3) }
        fleet.store.onRead { _ in .stalls }
        for call in [
            {
                try await host.untilMigrated(timeout: .seconds(3)) {
                    try await $0.whenMigrating(toVersion: "1.1") {}
                }
            },
            { try await host.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") } },
        ] as [@Sendable () async throws -> Void] {
            let error = try await end(within: .seconds(4), of: call)
            #expect(error?.code == .lockTimeout)
            #expect(error?.description.contains("for an answer from its store") == true)
        }
        fleet.store.works()
    }

    /// Cancels each call once the store stalls in it.
    private func cancel(_ calls: [@Sendable () async throws -> Void]) async throws {
        for call in calls {
            let count = fleet.store.reads + fleet.store.writes
            let task = Call { await code { try await call() } }
            try await waitUntil { fleet.store.reads + fleet.store.writes > count || task.hasEnded }
            task.cancel()
            #expect(try await task.value == .cancelled)
        }
        fleet.store.works()
    }

    @Test func `cancelling the task ends every call at once`() async throws {
        let host = try await fleet.host()
        fleet.store.onRead { _ in .stalls }
        try await cancel([
            { _ = try await fleet.host("b") }, { _ = try await host.status },
            { try await host.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} } },
            { try await host.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") } },
        ])
        let next = try await fleet.host("b")
        fleet.store.onWrite { _, _ in .stalls }
        try await cancel([
            { try await next.reset(to: "1.0") },
            { _ = try await fleet.host("c", at: "1.5") },
        ])
    }

    @Test func `a claim takes one deadline, with what makes it void, and a cancelled one says so`()
        async throws
    {
        let (doors, claims) = ([Door(), Door()], Log())
        let store = InterposedStore(store: fleet.store) { _ in
            if claims.lines.isEmpty && fleet.store.writes == 0 { return }
            claims.add("write \(claims.lines.count + 1)")
            await doors[claims.lines.count - 1].pass()
            throw TestStore.Failure()
        }
        let host = try await fleet.host(on: store)
        let task = Call {
            await code { try await host.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") } }
        }
        func hangs(in write: String) -> Bool { claims.lines.last == write && fleet.clock.alarms == 1 }
        try await waitUntil { hangs(in: "write 1") || task.hasEnded }
        task.cancel()
        fleet.clock.advance(by: .seconds(10))
        doors[0].open()
        try await waitUntil { hangs(in: "write 2") || task.hasEnded }
        #expect(!task.hasEnded)
        fleet.clock.advance(by: .seconds(5))
        #expect(try await task.value == .cancelled)
        doors[1].open()
    }

    @Test func `one timer rings each alarm at its time, whichever was set first or cancelled`() async throws {
        let alarm = Alarms(by: fleet.clock.clock).set(after:_:)
        let began = fleet.clock.now
        let log = Log()
        func set(_ seconds: Int) -> @Sendable () -> Void {
            alarm(.seconds(seconds)) { log.add("\(seconds)") }
        }
        // A timer counts from the time at which it begins, so the clock stands still until all have begun.
        func waits(_ timers: Int) async throws { try await waitUntil { fleet.clock.timers == timers } }
        for (count, seconds) in [9, 3, 6, 4].enumerated() {
            _ = set(seconds)
            try await waits(min(count + 1, 2))
        }
        set(1)()
        for (count, seconds) in [3, 4, 6, 9].enumerated() {
            try await waits(count == 0 ? 3 : 2)
            fleet.clock.advance(by: began + .seconds(seconds) - fleet.clock.now)
            try await log.until("\(seconds)")
            #expect(log.lines.count == count + 1)
        }
        _ = set(8)
        try await waits(1)
        fleet.clock.advance(by: .seconds(8))
        try await log.until("8")
    }

    @Test func `a call that hangs holds no later one up`() async throws {
        let host = try await fleet.host()
        fleet.store.onRead { [reads = fleet.store.reads] in $0 == reads + 1 ? .stalls : .works }
        let first = Call { await code { _ = try await host.status } }
        try await waitUntil { fleet.store.reads == 2 || first.hasEnded }
        #expect(try await host.status.hasState)
        first.cancel()
        #expect(try await first.value == .cancelled)
        fleet.store.works()
    }
}
