import AppMigrations
import AppMigrationsFleet
import Testing

@Suite struct LeaseWatchTests {
    private let lease = Lease(owner: "a", beat: 0, fence: 1, length: .seconds(30))

    /// Whether the lease has run out after looks, each with the revision that was seen, and when it was asked and answered.
    private func hasRunOut(_ looks: [(FleetRevision, asked: Int, answered: Int)]) -> Bool {
        var watch = LeaseWatch()
        var hasRunOut = false
        for look in looks {
            hasRunOut = watch.hasRunOut(
                lease,
                at: look.0,
                asked: .seconds(look.asked),
                answered: .seconds(look.answered)
            )
        }
        return hasRunOut
    }

    private let one = FleetRevision(1)
    private let two = FleetRevision(2)

    @Test func `a lease runs out once one revision was seen for its whole length`() {
        #expect(!hasRunOut([(one, 0, 0)]))
        #expect(!hasRunOut([(one, 0, 0), (one, 29, 29)]))
        #expect(hasRunOut([(one, 0, 0), (one, 30, 30)]))
    }

    @Test func `a renewal in between begins it again`() {
        #expect(!hasRunOut([(one, 0, 0), (two, 29, 29), (two, 58, 58)]))
        #expect(hasRunOut([(one, 0, 0), (two, 29, 29), (two, 59, 59)]))
    }

    @Test func `the time of a slow answer doesn't count, before or after`() {
        #expect(!hasRunOut([(one, 0, 20), (one, 31, 31)]))
        #expect(!hasRunOut([(one, 0, 0), (one, 29, 60)]))
    }

    @Test func `a clock that goes back takes over later, and never earlier`() {
        #expect(!hasRunOut([(one, 100, 100), (one, 0, 0), (one, 60, 60)]))
        #expect(hasRunOut([(one, 100, 100), (one, 0, 0), (one, 130, 130)]))
    }
}
