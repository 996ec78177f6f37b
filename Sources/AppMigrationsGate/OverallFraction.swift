/// How much of all steps is done, which never falls, also when more steps become known.
struct OverallFraction {
    /// The fraction when the last steps became known; what was to be done then is the rest up to 1.
    private var base = 0.0
    private var expected = 0.0
    private var done = 0.0
    /// How much of the step that runs is done, from 0 to 1, and its part beside the others.
    private var share = 0.0
    var weight = 1.0
    /// How many steps are known that aren't done.
    private(set) var pending = 0
    private var phase = Phase.before

    /// Files are copied before a closure begins, and that counts as half of its step.
    private enum Phase { case before, copying, running, runningAfterCopy }

    var value: Double {
        if expected == 0 { return base }
        return base + (1 - base) * min((done + share * weight) / expected, 1)
    }

    /// More steps become known, and none of those that are known is under way: what was copied before belongs to none.
    mutating func expect(_ weights: [Double]) {
        pending += weights.count
        go(onWith: expected - done + weights.reduce(0, +))
    }

    /// The start is begun once more, and plans anew what is left.
    mutating func beginAgain() {
        pending = 0
        go(onWith: 0)
    }

    private mutating func go(onWith rest: Double) {
        base = value
        expected = rest
        done = 0
        share = 0
        phase = .before
    }

    /// A closure begins.
    mutating func begin() {
        switch phase {
        case .before: phase = .running
        case .copying: phase = .runningAfterCopy
        case .running, .runningAfterCopy: break
        }
    }

    mutating func reach(_ fraction: Double) {
        let fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        if phase == .before { phase = .copying }
        switch phase {
        case .before, .copying: share = max(share, fraction / 2)
        case .running: share = max(share, fraction)
        case .runningAfterCopy: share = max(share, 0.5 + fraction / 2)
        }
    }

    mutating func finish() {
        pending = max(pending - 1, 0)
        done = min(done + weight, expected)
        share = 0
        phase = .before
    }
}
