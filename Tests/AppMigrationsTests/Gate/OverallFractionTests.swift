import Testing

@testable import AppMigrations

/// The fraction of a gate's whole start, made of the fractions of its steps.
struct OverallFractionTests {
    private static func adding(_ weights: Double...) -> OverallFraction {
        var fraction = OverallFraction()
        for weight in weights { fraction.addStep(weight: weight) }
        return fraction
    }

    @Test func `each step has an equal part of the bar`() {
        var fraction = Self.adding(1, 1)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.25)
        fraction.finishStep(weight: 1)
        #expect(fraction.value == 0.5)
    }

    @Test func `steps have their weights`() {
        var fraction = Self.adding(1, 3)
        fraction.beginStep(weight: 1)
        fraction.finishStep(weight: 1)
        #expect(fraction.value == 0.25)
        fraction.beginStep(weight: 3)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.625)
    }

    @Test(arguments: 1...100)
    func `each finished step is one less that is pending, and the last one fills the bar`(count: Int) {
        var fraction = OverallFraction()
        for step in 1...count { fraction.addStep(weight: Double(step)) }
        for step in 1...count {
            #expect(fraction.value < 1)
            fraction.beginStep(weight: Double(step))
            fraction.finishStep(weight: Double(step))
            #expect(fraction.pending == count - step)
        }
        #expect(fraction.value == 1)
        fraction.finishStep(weight: 1)
        #expect(fraction.pending == 0 && fraction.value == 1)
    }

    @Test func `a step that nobody added has no part, and a number out of range is the nearest in it`() {
        var fraction = OverallFraction()
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0)
        fraction = Self.adding(1)
        fraction.beginStep(weight: 1)
        for number in [-1, Double.nan, -Double.infinity] {
            fraction.reportProgress(number)
            #expect(fraction.value == 0)
        }
        fraction.reportProgress(.infinity)
        #expect(fraction.value == 1)
    }

    @Test func `a step that failed leaves the bar where it was, and the next one goes on from there`() {
        var fraction = Self.adding(1, 1)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        fraction.leaveStep()
        fraction.reportProgress(0.9)
        #expect(fraction.value == 0.25)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0)
        #expect(fraction.value == 0.25)
    }

    @Test func `steps that are added during a step share what is left after it`() {
        var fraction = Self.adding(1, 1)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        fraction.addStep(weight: 1)
        #expect(fraction.value == 0.25)
        fraction.finishStep(weight: 1)
        #expect(fraction.value == 0.5)
        fraction.finishStep(weight: 1)
        #expect(fraction.value == 0.75)
    }

    @Test func `a start that is begun once more goes on where it was`() {
        var fraction = Self.adding(1, 1)
        fraction.beginStep(weight: 1)
        fraction.finishStep(weight: 1)
        fraction.forgetSteps()
        #expect(fraction.value == 0.5 && fraction.pending == 0)
        fraction.addStep(weight: 1)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.75)
    }
}
