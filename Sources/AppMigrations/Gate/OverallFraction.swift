/// The fraction of all steps that is done; it never falls, also when more steps become known.
struct OverallFraction {
    /// The fraction when the last steps became known; the work that was left then is the rest up to 1.
    private var base = 0.0
    private var expected = 0.0
    private var done = 0.0
    /// How much of the step that is under way is done, from 0 to 1.
    private var share = 0.0
    /// The part of that step beside the others.
    private var weight = 1.0
    /// How many steps are known that aren't done.
    private(set) var pending = 0
    /// True while a closure runs: a report of an ended one doesn't count for the next step.
    private var isRunning = false
    /// True if files were copied before the closure began, which counts as half of its step.
    private var hasCopied = false

    var value: Double {
        if expected == 0 { return base }
        return base + (1 - base) * min((done + share * weight) / expected, 1)
    }

    /// Adds steps while none is under way: files that were copied before belong to none of them.
    mutating func expect(_ weights: [Double]) {
        pending += weights.count
        go(onWith: expected - done + weights.reduce(0, +))
    }

    /// Begins a further try of the start, which plans the rest anew.
    mutating func beginAgain() {
        pending = 0
        go(onWith: 0)
    }

    private mutating func go(onWith rest: Double) {
        base = value
        expected = rest
        done = 0
        leaveStep()
    }

    private mutating func leaveStep() { (share, isRunning, hasCopied) = (0, false, false) }

    /// Counts files that are copied for the next closure, or were put back.
    mutating func copy(_ fraction: Double, _ weight: Double) {
        self.weight = weight
        hasCopied = true
        share = max(share, fraction / 2)
    }

    mutating func begin(_ weight: Double) {
        self.weight = weight
        isRunning = true
    }

    mutating func reach(_ fraction: Double) {
        if isRunning { share = max(share, hasCopied ? 0.5 + fraction / 2 : fraction) }
    }

    mutating func finish() {
        pending = max(pending - 1, 0)
        done = min(done + weight, expected)
        leaveStep()
    }
}
