/// How much of all steps is done, which never falls, also when more steps become known.
struct OverallFraction {
    /// The fraction when the last steps became known; what was to be done then is the rest up to 1.
    private var base = 0.0
    private var expected = 0
    private var done = 0
    /// How much of the step that runs is done.
    private var share = 0.0
    private var phase = Phase.before

    /// Files are copied before a closure begins, and that counts as half of its step.
    private enum Phase { case before, copying, running, runningAfterCopy }

    var pending: Int { expected - done }

    var value: Double {
        if expected == 0 { return base }
        return base + (1 - base) * min((Double(done) + share) / Double(expected), 1)
    }

    /// More steps become known, and none of those that are known is under way: what was copied before belongs to none.
    mutating func expect(_ steps: Int) { go(onWith: pending + steps) }

    /// The start is begun once more, and plans anew what is left.
    mutating func beginAgain() { go(onWith: 0) }

    private mutating func go(onWith steps: Int) {
        base = value
        expected = steps
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
        done = min(done + 1, expected)
        share = 0
        phase = .before
    }
}
