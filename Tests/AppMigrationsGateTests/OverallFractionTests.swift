import Testing

@testable import AppMigrationsGate

@Suite struct OverallFractionTests {
    @Test func `files that are put back before the plan are no half of its first step`() {
        var fraction = OverallFraction()
        fraction.reach(0.9)
        fraction.expect([1])
        fraction.begin()
        fraction.reach(0.1)
        #expect(fraction.value == 0.1)
    }

    @Test func `a start that is begun once more goes on where it was`() {
        var fraction = OverallFraction()
        fraction.expect([1, 1])
        fraction.begin()
        fraction.finish()
        fraction.beginAgain()
        #expect(fraction.value == 0.5)
        fraction.expect([1])
        fraction.begin()
        fraction.reach(0.5)
        #expect(fraction.value == 0.75)
    }
}
