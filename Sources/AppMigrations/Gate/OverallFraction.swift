/// How much of all the steps of a start is done, as a fraction.
///
/// It never decreases, even when steps are added.
struct OverallFraction {
    /// The fraction at the time when steps were last added.
    ///
    /// The steps that were unfinished at that time share the remaining part, up to 1.
    private var base = 0.0

    /// The total weight of the steps that were unfinished when steps were last added.
    private var expectedWeight = 0.0

    /// The total weight of the steps that have finished since then.
    private var finishedWeight = 0.0

    /// How much of the current step is done, from 0 to 1.
    private var stepFraction = 0.0

    /// The weight of the current step, relative to the other steps.
    private var stepWeight = 1.0

    /// The number of known steps that aren't finished.
    private(set) var pending = 0

    /// True while a step is running.
    ///
    /// Without this flag, a report from a closure that has ended would count for the next step.
    private var isRunning = false

    /// True if files were copied before the closure began.
    ///
    /// Copying counts as half of the step.
    private var hasCopied = false

    var value: Double {
        if expectedWeight == 0 { return base }
        let done = (finishedWeight + stepFraction * stepWeight) / expectedWeight
        return base + (1 - base) * min(done, 1)
    }

    /// Adds steps.
    ///
    /// Call it only between steps. If files were already copied for the next step, that progress is
    /// discarded.
    mutating func addSteps(weights: [Double]) {
        pending += weights.count
        restart(withRemainingWeight: expectedWeight - finishedWeight + weights.reduce(0, +))
    }

    /// Forgets the pending steps, but keeps the fraction.
    ///
    /// The next attempt to start adds the remaining steps again.
    mutating func beginAgain() {
        pending = 0
        restart(withRemainingWeight: 0)
    }

    private mutating func restart(withRemainingWeight weight: Double) {
        base = value
        expectedWeight = weight
        finishedWeight = 0
        leaveStep()
    }

    private mutating func leaveStep() {
        stepFraction = 0
        isRunning = false
        hasCopied = false
    }

    /// Reports how much of the protected files has been copied before the closure, or restored, from 0 to 1.
    mutating func reportFileProgress(_ fraction: Double, weight: Double) {
        stepWeight = weight
        hasCopied = true
        stepFraction = max(stepFraction, fraction / 2)
    }

    mutating func beginStep(weight: Double) {
        stepWeight = weight
        isRunning = true
    }

    mutating func reportProgress(_ fraction: Double) {
        if isRunning { stepFraction = max(stepFraction, hasCopied ? 0.5 + fraction / 2 : fraction) }
    }

    mutating func finishStep() {
        pending = max(pending - 1, 0)
        finishedWeight = min(finishedWeight + stepWeight, expectedWeight)
        leaveStep()
    }
}
