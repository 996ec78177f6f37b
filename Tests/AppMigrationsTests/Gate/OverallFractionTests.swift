import Testing

@testable import AppMigrations

/// The fraction of a gate's whole start, made of the fractions of its steps.
struct OverallFractionTests {
    private static func adding(_ weights: Double...) -> OverallFraction {
        var fraction = OverallFraction()
        fraction.addSteps(weights: weights)
        return fraction
    }

    @Test func `a step that copied nothing has the whole of its part for its closure`() {
        var fraction = Self.adding(1, 1)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.25)
        fraction.finishStep()
        #expect(fraction.value == 0.5)
    }

    @Test func `copying is the first half of its step alone`() {
        var fraction = Self.adding(1, 1)
        fraction.reportFileProgress(1, weight: 1)
        #expect(fraction.value == 0.25)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.375)
        fraction.finishStep()
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.75)
    }

    @Test func `steps have their weights`() {
        var fraction = Self.adding(1, 3)
        fraction.beginStep(weight: 1)
        fraction.finishStep()
        #expect(fraction.value == 0.25)
        fraction.beginStep(weight: 3)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.625)
    }

    @Test func `each finished step is one less that is pending, and none is missing`() {
        var fraction = Self.adding(1, 1, 1)
        for pending in [2, 1, 0, 0] {
            fraction.beginStep(weight: 1)
            fraction.finishStep()
            #expect(fraction.pending == pending)
        }
        #expect(fraction.value == 1)
    }

    @Test func `files that are put back before the plan are no half of its first step`() {
        var fraction = OverallFraction()
        fraction.reportFileProgress(0.9, weight: 1)
        fraction.addSteps(weights: [1])
        // A late report of a closure that has ended.
        fraction.reportProgress(0.9)
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.1)
        #expect(fraction.value == 0.1)
    }

    @Test func `a start that is begun once more goes on where it was`() {
        var fraction = OverallFraction()
        fraction.addSteps(weights: [1, 1])
        fraction.beginStep(weight: 1)
        fraction.finishStep()
        fraction.beginAgain()
        #expect(fraction.value == 0.5)
        fraction.addSteps(weights: [1])
        fraction.beginStep(weight: 1)
        fraction.reportProgress(0.5)
        #expect(fraction.value == 0.75)
    }
}
