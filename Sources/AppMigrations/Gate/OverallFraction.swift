/// The fraction of all steps of a start that is done.
///
/// It never falls, even if more steps become known.
struct OverallFraction {
    /// The fraction at the moment when the last steps became known.
    ///
    /// The steps left at that moment share the rest, up to 1.
    private var base = 0.0

    /// The weight of the steps that share the rest.
    private var expectedWeight = 0.0

    /// The weight of those steps that are finished.
    private var finishedWeight = 0.0

    /// How much of the current step is done, from 0 to 1.
    private var stepFraction = 0.0

    /// The weight of the current step, compared with the other steps.
    private var stepWeight = 1.0

    /// The number of known steps that aren't finished.
    private(set) var pending = 0

    /// True while a closure runs.
    ///
    /// A late report of a closure that has ended doesn't count for the next step.
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
    /// No step may be running. If files were already copied, that counts for none of the steps.
    mutating func addSteps(weights: [Double]) {
        pending += weights.count
        shareRest(amongWeight: expectedWeight - finishedWeight + weights.reduce(0, +))
    }

    /// Begins another try of the start, which plans the remaining steps again.
    mutating func beginAgain() {
        pending = 0
        shareRest(amongWeight: 0)
    }

    private mutating func shareRest(amongWeight weight: Double) {
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

    /// Reports how many of the next closure's protected files are copied, or how many files are restored.
    mutating func reportCopying(_ fraction: Double, weight: Double) {
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
