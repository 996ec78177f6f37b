import AppMigrationsFleet
import Testing

@Suite struct FleetRevisionTests {
    @Test func `a number and its text are the same revision`() {
        #expect(FleetRevision(7) == FleetRevision("7"))
        #expect(FleetRevision(7) != FleetRevision(8))
    }
}
