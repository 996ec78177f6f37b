/// How much of a start is done, as a fraction that never decreases, and what the app says about it.
///
/// The unfinished steps share the part of the bar that is left, by their weights. So adding steps doesn't
/// move the bar back.
struct StartProgress {
    enum Step: Hashable {
        case migration(manager: String, AppVersion)

        /// A step of the app, by its note (``MigrationGate/Attempt/step(_:_:)``).
        case own(String)
    }

    /// What is known of a step that isn't finished.
    struct Pending {
        /// The weight of the step, relative to the other steps.
        var weight = 1.0

        /// How much of a migration was done at its last checkpoint, from 0 to 1.
        var checkpoint = 0.0
    }

    /// How much is done, from 0 to 1.
    private(set) var fraction = 0.0

    /// What the app says about the current work.
    private(set) var note: String?

    private(set) var pending = [Step: Pending]()

    /// The part of the bar that belongs to the running step; `nil` between two steps.
    private var runningPart: ClosedRange<Double>?

    /// True while the library copies files for a migration, before its closure begins.
    private var isCopying = false

    mutating func add(_ steps: [Step: Pending]) { pending.merge(steps) { _, new in new } }

    /// Forgets the steps, but keeps the fraction.
    ///
    /// The next attempt to start adds the remaining steps again.
    mutating func forgetSteps() {
        pending = [:]
        runningPart = nil
    }

    /// Begins a step of the app, which is added with weight 1 if no plan has named it.
    mutating func beginStep(_ note: String) {
        if pending[.own(note)] == nil { pending[.own(note)] = Pending() }
        begin(.own(note))
        self.note = note
    }

    mutating func finishStep(_ note: String) { finish(.own(note)) }

    /// Reports the progress of a step of the app, whose note stays until it reports another one.
    mutating func reportProgress(_ done: Double, note: String?) {
        moveBar(to: done)
        self.note = note ?? self.note
    }

    /// Takes the progress from a manager's event, and returns false if the event says nothing about it.
    mutating func apply(_ event: MigrationEvent) -> Bool {
        guard let version = event.version else { return false }
        let step = Step.migration(manager: event.managerName, version)
        switch event.kind {
        case .started:
            begin(step)
            moveBar(to: pending[step]?.checkpoint ?? 0)
        case .progressed:
            if runningPart == nil { begin(step, isCopy: true) }
            moveBar(to: event.fraction ?? 0)
            // The note of a copy is for a log.
            note = isCopying ? nil : event.note
        case .finished: finish(step)
        case .failed:
            runningPart = nil
            return false
        default: return false
        }
        return true
    }

    /// Gives a step its part of the bar, which begins where the bar is now.
    ///
    /// A copy is half of a step. A migration that wasn't planned has no part.
    private mutating func begin(_ step: Step, isCopy: Bool = false) {
        let all = pending.values.reduce(0) { $0 + $1.weight }
        let weight = (pending[step]?.weight ?? 0) * (isCopy ? 0.5 : 1)
        var length = all > 0 ? 1 - fraction : 0
        // The last step gets exactly the rest.
        if weight < all { length = length * weight / all }
        runningPart = fraction...(fraction + length)
        isCopying = isCopy
        note = nil
    }

    /// Moves the bar within the part of the running step.
    private mutating func moveBar(to done: Double) {
        guard let part = runningPart else { return }
        // Comparisons with NaN are false, so it counts as 0.
        let done = done > 0 ? min(done, 1) : 0
        fraction = max(fraction, part.lowerBound + (part.upperBound - part.lowerBound) * done)
    }

    private mutating func finish(_ step: Step) {
        // A migration that is recorded without running was never begun.
        if runningPart == nil { begin(step) }
        fraction = max(fraction, runningPart?.upperBound ?? 0)
        pending[step] = nil
        runningPart = nil
        note = nil
    }
}
