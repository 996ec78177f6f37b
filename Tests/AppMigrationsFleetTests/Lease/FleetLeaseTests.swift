import AppMigrations
import AppMigrationsFleet
import Testing

@Suite struct FleetLeaseTests {
    let fleet = Fleet()

    /// Lets time pass in steps, so that each pause that ends within it is followed by what comes next.
    private func pass(_ duration: Duration, steps: Int, sleepers: Int) async {
        for _ in 0..<steps {
            await fleet.clock.sleepers(sleepers)
            fleet.clock.advance(by: duration / steps)
            for _ in 0..<50 { await Task.yield() }
        }
    }

    @Test func `a host waits for the host at work, says so every ten seconds, and finds nothing to do`()
        async throws
    {
        let (first, door) = try await fleet.holding()
        let second = try await fleet.host("b")
        let waiting = Task { try await second.whenMigrating(toVersion: "1.1") {} }
        await pass(.seconds(120), steps: 240, sleepers: 2)
        door.open()
        #expect(await first.value == nil)
        await fleet.clock.sleepers(1)
        fleet.clock.advance(by: .seconds(1))
        #expect(try await !waiting.value)
        let told = fleet.log.lines.filter { $0 == "b waiting a" }.count
        #expect((11...13).contains(told), "\(told)")
        #expect(!fleet.log.lines.contains { $0.hasPrefix("b started") })
    }

    @Test func `a host that can't renew for half of its lease cancels the closure, and records nothing`()
        async throws
    {
        let (first, door) = try await fleet.holding()
        fleet.store.onWrite { _, _ in .fails }
        await pass(.seconds(14), steps: 14, sleepers: 1)
        #expect(!fleet.log.lines.contains("a is cancelled"))
        fleet.clock.advance(by: .seconds(2))
        await fleet.log.until("a is cancelled")
        fleet.store.works()
        door.open()
        #expect(await first.value == .leaseLost)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""lastRunVersion" : "0""#))
    }

    /// Another host may have taken over by then.
    @Test func `a lease that took half of its length to come is renewed before the closure begins`()
        async throws
    {
        let manager = try await fleet.host()
        fleet.store.onWrite { [clock = fleet.clock] _, text in
            if text.contains(#""beat" : 0"#) { clock.advance(by: .seconds(15)) }
            return .works
        }
        try await manager.whenMigrating(toVersion: "1.1") { [log = fleet.log, store = fleet.store] in
            let isRenewed = store.documents.last?.contains(#""beat" : 1"#) == true
            log.add(isRenewed ? "renewed" : "not renewed")
        }
        #expect(fleet.log.lines.contains("renewed"))
    }

    @Test func `a lease that is lost before the closure begins calls none`() async throws {
        let manager = try await fleet.host(
            on: InterposedStore(store: fleet.store) { store in
                if store.writes == 2 { try await store.edit(#""owner" : "a,"#, to: #""owner" : "b,"#) }
            }
        )
        fleet.store.onWrite { [clock = fleet.clock] number, _ in
            if number == 2 { clock.advance(by: .seconds(15)) }
            return .works
        }
        let code = await code {
            try await manager.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(code == .leaseLost)
    }

    @Test func `a store that doesn't answer keeps a host from nothing but its record`() async throws {
        let (first, door) = try await fleet.holding()
        fleet.store.onWrite { _, _ in .stalls }
        await fleet.pass(until: "a is cancelled")
        door.open()
        #expect(await first.value == .leaseLost)
        fleet.store.works()
    }

    @Test func `a dead host is taken over after the length of its lease, and counts as a death`() async throws
    {
        let (first, door) = try await fleet.holding()
        fleet.store.onWrite { _, text in text.contains(#""owner" : "a,"#) ? .stalls : .works }
        let second = try await fleet.host("b") { $0.attemptLimit = 2 }
        let waiting = Task { [log = fleet.log] in
            try await second.whenMigrating(toVersion: "1.1") { log.add("b runs \($0.attempt) \($0.fence)") }
        }
        await pass(.seconds(29), steps: 58, sleepers: 1)
        #expect(!fleet.log.lines.contains("b runs 2 2"))
        await fleet.pass(until: "b runs 2 2")
        #expect(try await waiting.value)
        fleet.store.works()
        door.open()
        #expect(await first.value == .leaseLost)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""attempts" : 2 }"#))
    }

    @Test func `a renewal that isn't answered keeps a host that is done no longer than its lease`()
        async throws
    {
        let (first, door) = try await fleet.holding()
        fleet.store.onWrite { [log = fleet.log] _, _ in
            log.add("stalls")
            return .stalls
        }
        fleet.clock.advance(by: .seconds(5))
        await fleet.log.until("stalls")
        let began = fleet.clock.now
        door.open()
        let ended = Task { [log = fleet.log] in
            let code = await first.value
            log.add("a has ended")
            return code
        }
        await fleet.pass(until: "a has ended")
        #expect(fleet.clock.now - began <= .seconds(30))
        #expect(await ended.value == .stateUnreadable)
        fleet.store.works()
    }

    @Test(arguments: [true, false])
    func `a host whose document another one has written records nothing over it`(_ isTaken: Bool) async throws
    {
        let manager = try await fleet.host()
        let failed = await code {
            try await manager.whenMigrating(toVersion: "1.1") {
                // Taken over, or cleared by a reset.
                try await fleet.store.edit(
                    isTaken ? #""owner" : "a,"# : #""owner""#,
                    to: isTaken ? #""owner" : "b,"# : #""was""#
                )
            }
        }
        #expect(failed == .leaseLost)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(isTaken ? #""owner" : "b,"# : #""was" : "a,"#))
        #expect(text.contains(#""lastRunVersion" : "0""#))
    }

    @Test func `a checkpoint finds out that the lease is lost, cancels the closure, and is told once`()
        async throws
    {
        let manager = try await fleet.host()
        let error = await #expect(throws: MigrationError.self) {
            try await manager.whenMigrating(toVersion: "1.1") { [log = fleet.log] context in
                try await fleet.store.edit(#""owner" : "a,"#, to: #""owner" : "b,"#)
                defer { log.add(Task.isCancelled ? "a is cancelled" : "a goes on") }
                do { try await context.saveCheckpoint(1) } catch {
                    while !Task.isCancelled { await Task.yield() }
                    throw error
                }
            }
        }
        #expect(error?.code == .leaseLost)
        #expect(error?.description.contains("The closure itself ended with") == false)
        #expect(fleet.log.lines.contains("a is cancelled"))
    }
}

/// A process that stands still, or whose threads are all busy, while its closure runs: no renewal and no watch has its turn.
@Suite struct FleetStallTests {
    let fleet = Fleet()

    /// Lets the process stand still, then go on until its tasks wait again, or the closure is cancelled.
    private func stall(_ duration: Duration) async {
        fleet.clock.advance(by: duration)
        while fleet.clock.asleep < 1, !fleet.log.lines.contains("a is cancelled") { await Task.yield() }
    }

    @Test(arguments: [16, 20, 29, 31, 3_600])
    func `a lease that nobody has taken over is renewed after the stall, and kept`(_ seconds: Int)
        async throws
    {
        let (first, door) = try await fleet.holding()
        fleet.clock.advance(by: .seconds(seconds))
        while fleet.store.documents.last?.contains(#""beat" : 1"#) != true,
            !fleet.log.lines.contains("a is cancelled")
        {
            await Task.yield()
        }
        await stall(.milliseconds(2_500))
        door.open()
        #expect(await first.value == nil)
        #expect(!fleet.log.lines.contains("a is cancelled"))
        #expect(try #require(try await fleet.store.text()).contains(#""lastRunVersion" : "1.1""#))
    }

    @Test func `a lease that was taken over is lost with the renewal after the stall`() async throws {
        let (first, door) = try await fleet.holding()
        let other = try await fleet.store.edit(#""owner" : "a,"#, to: #""owner" : "b,"#)
        fleet.clock.advance(by: .seconds(40))
        await fleet.log.until("a is cancelled")
        door.open()
        #expect(await first.value == .leaseLost)
        #expect(try await fleet.store.text() == other)
    }

    @Test func `a host that can't renew after the stall either gives up after a twelfth of its lease`()
        async throws
    {
        let (first, door) = try await fleet.holding()
        fleet.store.onWrite { _, _ in .fails }
        await stall(.seconds(20))
        await stall(.milliseconds(2_400))
        #expect(!fleet.log.lines.contains("a is cancelled"))
        fleet.clock.advance(by: .milliseconds(100))
        await fleet.log.until("a is cancelled")
        door.open()
        fleet.store.works()
        #expect(await first.value == .leaseLost)
    }
}
