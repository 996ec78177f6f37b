import AppMigrations
import AppMigrationsFleet
import Testing

@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetLeaseTests {
    let fleet = Fleet()

    private var isCancelled: Bool { fleet.log.lines.contains("a is cancelled") }

    @Test func `a host waits for the host at work, says so every ten seconds, and finds nothing to do`()
        async throws
    {
        let first = try await fleet.holding()
        let second = try await fleet.host("b")
        let waiting = Call { try await second.whenMigrating(toVersion: "1.1") {} }
        try await fleet.pass(.seconds(120), timers: 1) { waiting.hasEnded }
        #expect(!waiting.hasEnded)
        try await first.open()
        #expect(try await first.code == nil)
        try await fleet.pass { waiting.hasEnded }
        #expect(try await !waiting.value)
        let told = fleet.log.lines.filter { $0 == "b waiting a" }.count
        #expect((11...13).contains(told), "\(told)")
        #expect(!fleet.log.lines.contains { $0.hasPrefix("b started") })
    }

    @Test func `a host that can't renew for half of its lease cancels the closure, and records nothing`()
        async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, _ in .fails }
        try await fleet.pass(.seconds(14), waiting: 0, timers: 1)
        #expect(!isCancelled)
        try await fleet.pass(.seconds(1), waiting: 0, timers: 1) { isCancelled }
        #expect(isCancelled)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""lastRunVersion" : "0""#))
    }

    /// The store may have had the renewal as soon as it was sent, and others count from then on.
    @Test func `the time that the answer to a renewal takes doesn't count`() async throws {
        let first = try await fleet.holding()
        let renewal = Door()
        fleet.store.onWrite { _, _ in renewal.isOpen ? .fails : .stalls }
        try await fleet.pass(.seconds(5), waiting: 0, timers: 1)
        #expect(fleet.store.hanging == 1)
        let sent = fleet.clock.now
        try await fleet.pass(.seconds(7), waiting: 0, timers: 1)
        renewal.open()
        fleet.store.answer()
        try await fleet.settle(waiting: 0, timers: 1)
        #expect(fleet.store.documents.last?.contains(#""beat" : 1"#) == true)
        try await fleet.pass(sent + .seconds(14) - fleet.clock.now, waiting: 0, timers: 1) { isCancelled }
        #expect(!isCancelled)
        try await fleet.pass(.seconds(1), waiting: 0, timers: 1) { isCancelled }
        #expect(isCancelled)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
    }

    @Test func `a renewal whose answer took long is followed by the next one in time`() async throws {
        let first = try await fleet.holding()
        let renewal = Door()
        fleet.store.onWrite { _, _ in renewal.isOpen ? .fails : .stalls }
        try await fleet.pass(.seconds(5), waiting: 0, timers: 1)
        // The answer is there before the process goes on.
        fleet.clock.standStill(for: .seconds(12))
        renewal.open()
        fleet.store.answer()
        try await fleet.settle(waiting: 0, timers: 1)
        #expect(fleet.store.documents.last?.contains(#""beat" : 1"#) == true)
        try await fleet.pass(.seconds(3), waiting: 0, timers: 1) { isCancelled }
        #expect(isCancelled)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
    }

    /// Others count from when the store had it, and not from when this host heard of it.
    @Test func `a renewal that arrives late, and is found by the next one, counts from when it was sent`()
        async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, text in text.contains(#""beat" : 1"#) ? .comesLate : .fails }
        try await fleet.pass(.seconds(5), waiting: 0, timers: 1)
        #expect(try await fleet.store.arrive() == 1)
        try await fleet.pass(.seconds(15), waiting: 0, timers: 1) { isCancelled }
        #expect(isCancelled)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
    }

    @Test(arguments: [true, false])
    func `a checkpoint that isn't answered leaves the renewal its last try, and no more`(_ renews: Bool)
        async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, text in renews && !text.contains("here") ? .works : .stalls }
        let saving = Call { await code { try await first.context.saveCheckpoint("here") } }
        try await waitUntil { fleet.store.hanging == 1 || saving.hasEnded }
        try await fleet.pass(.seconds(15), waiting: 0, timers: 1) { isCancelled }
        #expect(isCancelled != renews)
        #expect(try await saving.value == .stateUnreadable)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == (renews ? nil : .leaseLost))
    }

    @Test func `a checkpoint after a stall has a twelfth of the lease at least`() async throws {
        let first = try await fleet.holding()
        fleet.clock.standStill(for: .seconds(12))
        fleet.store.onWrite { _, _ in .stalls }
        let saving = Call { await code { try await first.context.saveCheckpoint("here") } }
        try await waitUntil { fleet.store.hanging == 1 || saving.hasEnded }
        try await fleet.pass(.seconds(2)) { saving.hasEnded }
        fleet.store.works()
        #expect(try await saving.value == nil)
        try await first.open()
        #expect(try await first.code == nil)
    }

    /// Another host may have taken over by then.
    @Test(arguments: [13, 15])
    func `a lease that took nearly half of its length to come is renewed before the closure begins`(
        _ seconds: Int
    ) async throws {
        let manager = try await fleet.host()
        fleet.store.onWrite { [clock = fleet.clock] _, text in
            if text.contains(#""beat" : 0"#) { clock.standStill(for: .seconds(seconds)) }
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
            if number == 2 { clock.standStill(for: .seconds(15)) }
            return .works
        }
        let code = await code {
            try await manager.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") }
        }
        #expect(code == .leaseLost)
    }

    @Test func `a store that doesn't answer keeps a host from nothing but its record`() async throws {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, _ in .stalls }
        try await fleet.pass(waiting: 0, timers: 1) { isCancelled }
        try await first.open()
        #expect(try await first.code == .leaseLost)
        fleet.store.works()
    }

    @Test func `a dead host is taken over after the length of its lease, and counts as a death`() async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, text in text.contains(#""owner" : "a,"#) ? .stalls : .works }
        let second = try await fleet.host("b") { $0.attemptLimit = 2 }
        let waiting = Call { [log = fleet.log] in
            try await second.whenMigrating(toVersion: "1.1") { log.add("b runs \($0.attempt) \($0.fence)") }
        }
        let began = fleet.clock.now
        try await fleet.pass(.seconds(29), timers: 1) { isCancelled || waiting.hasEnded }
        #expect(isCancelled)
        try await fleet.pass(began + .seconds(29) - fleet.clock.now) { waiting.hasEnded }
        #expect(!fleet.log.lines.contains("b runs 2 2"))
        try await fleet.pass { waiting.hasEnded }
        #expect(fleet.log.lines.contains("b runs 2 2"))
        #expect(try await waiting.value)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
        let text = try #require(try await fleet.store.text())
        #expect(text.contains(#""attemptCount" : 2 }"#))
    }

    @Test func `an attempt under a lease is no death to a host that allows none`() async throws {
        let first = try await fleet.holding()
        let second = try await fleet.host("b") { $0.attemptLimit = 1 }
        let waiting = Call { try await second.whenMigrating(toVersion: "1.1") { Issue.record("It ran.") } }
        // Twice as long as a lease.
        try await fleet.pass(.seconds(60), timers: 1) { waiting.hasEnded }
        #expect(!waiting.hasEnded)
        try await first.open()
        #expect(try await first.code == nil)
        try await fleet.pass { waiting.hasEnded }
        #expect(try await !waiting.value)
    }

    @Test func `a renewal that isn't answered keeps a host that is done no longer than its lease`()
        async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, _ in .stalls }
        try await fleet.pass(.seconds(5), waiting: 0, timers: 1)
        #expect(fleet.store.hanging == 1)
        let began = fleet.clock.now
        try await first.open()
        try await fleet.pass { first.call.hasEnded }
        #expect(fleet.clock.now - began <= .seconds(30))
        #expect(try await first.code == .stateUnreadable)
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
        #expect(error?.description.contains("Its closure had failed") == false)
        #expect(fleet.log.lines.contains("a is cancelled"))
    }
}

/// A process that stands still, or whose threads are all busy, while its closure runs: no renewal and no watch has its turn.
@Suite(.timeLimit(.minutes(1)), .watchdog) struct FleetStallTests {
    let fleet = Fleet()

    private var isCancelled: Bool { fleet.log.lines.contains("a is cancelled") }

    /// Lets the process stand still, then go on until its next renewal waits again, or the closure is cancelled.
    private func stall(_ duration: Duration) async throws {
        fleet.clock.advance(by: duration)
        try await fleet.settle(waiting: 0, timers: 1) { isCancelled }
    }

    @Test(arguments: [16, 20, 29, 31, 3_600])
    func `a lease that nobody has taken over is renewed after each stall, and kept`(_ seconds: Int)
        async throws
    {
        let first = try await fleet.holding()
        for beat in 1...2 {
            try await stall(.seconds(seconds))
            #expect(fleet.store.documents.last?.contains("\"beat\" : \(beat),") == true)
        }
        try await stall(.milliseconds(2_500))
        try await first.open()
        #expect(try await first.code == nil)
        #expect(!isCancelled)
        #expect(try #require(try await fleet.store.text()).contains(#""lastRunVersion" : "1.1""#))
    }

    @Test func `a lease that was taken over is lost with the renewal after the stall`() async throws {
        let first = try await fleet.holding()
        let other = try await fleet.store.edit(#""owner" : "a,"#, to: #""owner" : "b,"#)
        try await stall(.seconds(40))
        #expect(isCancelled)
        try await first.open()
        #expect(try await first.code == .leaseLost)
        #expect(try await fleet.store.text() == other)
    }

    @Test func `a host that can't renew after the stall either gives up after a twelfth of its lease`()
        async throws
    {
        let first = try await fleet.holding()
        fleet.store.onWrite { _, _ in .fails }
        try await stall(.seconds(20))
        try await stall(.milliseconds(2_400))
        #expect(!isCancelled)
        try await stall(.milliseconds(100))
        #expect(isCancelled)
        fleet.store.works()
        try await first.open()
        #expect(try await first.code == .leaseLost)
    }
}
