/// How much of all the steps of a start is done, as a fraction.
///
/// It never decreases, even when steps are added: the unfinished steps share the part of the bar that is left.
struct OverallFraction {
    /// How much is done, from 0 to 1.
    private(set) var value = 0.0

    /// The number of known steps that aren't finished.
    private(set) var pending = 0

    /// The total weight of the known steps that aren't finished.
    private var pendingWeight = 0.0

    /// The part of the bar that belongs to the running step; `nil` between two steps.
    private var runningPart: ClosedRange<Double>?

    var isStepRunning: Bool { runningPart != nil }

    mutating func addStep(weight: Double) {
        pending += 1
        pendingWeight += weight
    }

    /// Forgets the pending steps, but keeps the fraction.
    ///
    /// The next attempt to start adds the remaining steps again.
    mutating func forgetSteps() {
        pending = 0
        pendingWeight = 0
        runningPart = nil
    }

    /// Gives a step its part of the bar, which begins where the bar is now.
    ///
    /// A step that wasn't added has no part, unless other steps are pending.
    mutating func beginStep(weight: Double) {
        var part = pendingWeight > 0 ? 1 - value : 0
        if weight < pendingWeight { part = part * weight / pendingWeight }
        runningPart = value...(value + part)
    }

    /// Moves the bar within the part of the running step.
    mutating func reportProgress(_ fraction: Double) {
        guard let part = runningPart else { return }
        // Comparisons with NaN are false, so it counts as 0.
        let done = fraction > 0 ? min(fraction, 1) : 0
        value = max(value, part.lowerBound + (part.upperBound - part.lowerBound) * done)
    }

    mutating func finishStep(weight: Double) {
        // A migration that is recorded without running was never begun.
        if !isStepRunning { beginStep(weight: weight) }
        value = max(value, runningPart?.upperBound ?? 0)
        pending = max(pending - 1, 0)
        pendingWeight = max(pendingWeight - weight, 0)
        leaveStep()
    }

    /// Ends a step that failed, and leaves it pending.
    mutating func leaveStep() { runningPart = nil }
}
