import AppMigrations
import AppMigrationsFleet
import Testing

/// Hosts that wait while the store can't be read, as when its server restarts.
@Suite struct UnreachableWhileWaitingTests {
    let fleet = Fleet()

    /// Puts the document there that a host leaves which died in 1.1, and has another one wait for it.
    private func waiting(_ work: @escaping @Sendable () -> Void = {}) async throws -> Task<Void, Never> {
        try await fleet.leaveLease()
        let host = try await fleet.host("b") { $0.leaseDuration = .seconds(10) }
        let task = Task { [log = fleet.log] in
            let code = await code { try await host.whenMigrating(toVersion: "1.1") { work() } }
            log.add("b ends with \(code.map { "\($0)" } ?? "no error")")
        }
        await fleet.clock.sleepers(1)
        return task
    }

    @Test func `a wait outlasts a store that can't be read, and watches the lease for its whole length anew`()
        async throws
    {
        let task = try await waiting()
        await fleet.pass(.seconds(20))
        fleet.store.onRead { _ in .fails }
        await fleet.pass(.seconds(6))
        fleet.store.works()
        let recovered = fleet.clock.now
        await fleet.pass(.seconds(120)) { fleet.log.lines.contains { $0.hasPrefix("b ends") } }
        #expect(fleet.log.lines.contains("b ends with no error"))
        #expect(fleet.clock.now - recovered >= .seconds(30))
        await task.value
    }

    @Test func `a wait ends with the store's error after the length of a lease`() async throws {
        let task = try await waiting { Issue.record("It ran.") }
        fleet.store.onRead { _ in .fails }
        await fleet.pass(.seconds(9))
        #expect(!fleet.log.lines.contains { $0.hasPrefix("b ends") })
        await fleet.pass(.seconds(60)) { fleet.log.lines.contains { $0.hasPrefix("b ends") } }
        #expect(fleet.log.lines.contains("b ends with stateUnreadable"))
        task.cancel()
        await task.value
    }

    @Test func `failures that a success interrupts are counted from the next one`() async throws {
        let task = try await waiting()
        for _ in 0..<3 {
            fleet.store.onRead { _ in .fails }
            await fleet.pass(.seconds(7))
            fleet.store.works()
            await fleet.pass(.seconds(3))
        }
        #expect(!fleet.log.lines.contains { $0.hasPrefix("b ends") })
        task.cancel()
        await task.value
        #expect(fleet.log.lines.contains("b ends with cancelled"))
    }

    @Test func `a document that can't be understood ends a wait at once`() async throws {
        let task = try await waiting { Issue.record("It ran.") }
        try await fleet.store.put("nonsense")
        await fleet.pass(.seconds(5)) { fleet.log.lines.contains { $0.hasPrefix("b ends") } }
        #expect(fleet.log.lines.contains("b ends with stateCorrupted"))
        task.cancel()
        await task.value
    }

    @Test func `a pod that waits for the job outlasts it as well`() async throws {
        let pod = try await fleet.host("pod") { $0.isReadOnly = true }
        let task = Task { [log = fleet.log] in
            let code = await code {
                try await pod.untilMigrated { try await $0.whenMigrating(toVersion: "1.1") {} }
            }
            log.add("pod ends with \(code.map { "\($0)" } ?? "no error")")
        }
        await fleet.clock.sleepers(1)
        fleet.store.onRead { _ in .fails }
        await fleet.pass(.seconds(20))
        fleet.store.works()
        try await fleet.host("job").whenMigrating(toVersion: "1.1") {}
        await fleet.pass(.seconds(60)) { fleet.log.lines.contains { $0.hasPrefix("pod ends") } }
        #expect(fleet.log.lines.contains("pod ends with no error"))
        task.cancel()
        await task.value
    }
}
