import AppMigrations
import AppMigrationsFleet
import Testing

/// A store that never answers: a connection that is half open, a pooler that stands still, a server that is frozen.
@Suite struct SilentStoreTests {
    let fleet = Fleet()

    /// The error with which a call ends, while the clock moves up to a time; `nil` where it doesn't end, or doesn't throw.
    private func end(
        within duration: Duration,
        of call: @escaping @Sendable () async throws -> Void
    ) async -> MigrationError? {
        let ended = Guarded<MigrationError?>(nil)
        let task = Task {
            do { try await call() } catch { ended.withLock { $0 = error as? MigrationError } }
        }
        await fleet.pass(duration) { ended.withLock { $0 } != nil }
        task.cancel()
        return ended.withLock { $0 }
    }

    @Test func `a start ends after half a lease`() async throws {
        fleet.store.onRead { _ in .stalls }
        let error = await end(within: .seconds(16)) { _ = try await fleet.host() }
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
            let error = await end(within: .seconds(4), of: call)
            #expect(error?.code == .lockTimeout)
            #expect(error?.description.contains("for an answer of the store") == true)
        }
        fleet.store.works()
    }

    /// Cancels each call once the store stalls in it.
    private func cancel(_ calls: [@Sendable () async throws -> Void]) async {
        for call in calls {
            let count = fleet.store.reads + fleet.store.writes
            let task = Task { await code { try await call() } }
            while fleet.store.reads + fleet.store.writes == count { await Task.yield() }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
        fleet.store.works()
    }

    @Test func `cancelling the task ends every call at once`() async throws {
        let host = try await fleet.host()
        fleet.store.onRead { _ in .stalls }
        await cancel([
            { _ = try await fleet.host("b") }, { _ = try await host.status },
            { try await host.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} } },
            { try await host.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") } },
        ])
        let next = try await fleet.host("b")
        fleet.store.onWrite { _, _ in .stalls }
        await cancel([
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
        let task = Task { [log = fleet.log] in
            let code = await code {
                try await host.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
            }
            log.add("a ends with \(code.map { "\($0)" } ?? "no error")")
        }
        await claims.until("write 1")
        task.cancel()
        await fleet.pass(.seconds(10))
        doors[0].open()
        await claims.until("write 2")
        await fleet.pass(.seconds(5))
        await fleet.log.until("a ends with cancelled")
        doors[1].open()
        await task.value
    }

    @Test func `one timer rings each alarm at its time, whichever was set first or called off`() async {
        let (alarm, began, log) = (fleet.clock.clock.alarm, fleet.clock.now, Log())
        func set(_ seconds: Int) -> @Sendable () -> Void {
            alarm(.seconds(seconds)) { log.add("\(seconds)") }
        }
        for seconds in [9, 3, 6, 4] { _ = set(seconds) }
        set(1)()
        for (count, seconds) in [3, 4, 6, 9].enumerated() {
            fleet.clock.advance(by: began + .seconds(seconds) - fleet.clock.now)
            await log.until("\(seconds)")
            #expect(log.lines.count == count + 1)
        }
        _ = set(8)
        fleet.clock.advance(by: .seconds(8))
        await log.until("8")
    }

    @Test func `a call that hangs holds no later one up`() async throws {
        let host = try await fleet.host()
        fleet.store.onRead { [reads = fleet.store.reads] in $0 == reads + 1 ? .stalls : .works }
        let first = Task { await code { _ = try await host.status } }
        while fleet.store.reads < 2 { await Task.yield() }
        #expect(try await host.status.hasState)
        first.cancel()
        #expect(await first.value == .cancelled)
        fleet.store.works()
    }
}
