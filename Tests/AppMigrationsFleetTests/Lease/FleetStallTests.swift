import AppMigrations
import AppMigrationsFleet
import Testing

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
