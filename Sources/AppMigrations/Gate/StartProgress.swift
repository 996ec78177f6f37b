/// The progress of a start, made of the progress of its steps.
///
/// A step is a pending migration, or a step of the app itself (``MigrationGate/Attempt/step(_:_:)``).
struct StartProgress {
    /// A pending migration, as a part of the progress bar.
    struct Migration {
        /// The weight of the migration, relative to the other steps.
        let weight: Double

        /// How much of the migration was done at its last checkpoint, from 0 to 1.
        let checkpoint: Double
    }

    private(set) var fraction = OverallFraction()

    /// What the app says about the current work.
    private(set) var note: String?

    /// The pending migrations, by manager name and version.
    private(set) var migrations = [String: [AppVersion: Migration]]()

    /// The weights of the app's own steps that were planned and haven't begun, by the notes of the steps.
    private var plannedSteps = [String: Double]()

    /// The note of the app's own step that runs.
    private var runningStep: String?

    /// True while the closure of a migration runs.
    private var isClosureRunning = false

    /// Forgets the pending steps, but keeps the bar where it is.
    mutating func forgetSteps() {
        var next = StartProgress()
        next.fraction = fraction
        next.fraction.forgetSteps()
        self = next
    }

    /// Adds the steps of one manager's plan.
    mutating func add(_ steps: [AppVersion: Migration], of manager: String) {
        migrations[manager] = steps
        for step in steps.values { fraction.addStep(weight: step.weight) }
    }

    /// Adds a step of the app that will run later.
    mutating func planStep(_ note: String, weight: Double) {
        guard plannedSteps[note] == nil else { return }
        plannedSteps[note] = weight
        fraction.addStep(weight: weight)
    }

    /// Begins a step of the app, and returns its weight.
    mutating func beginStep(_ note: String) -> Double {
        if plannedSteps[note] == nil { planStep(note, weight: 1) }
        let weight = plannedSteps.removeValue(forKey: note) ?? 1
        fraction.beginStep(weight: weight)
        runningStep = note
        self.note = note
        return weight
    }

    mutating func finishStep(weight: Double) {
        fraction.finishStep(weight: weight)
        runningStep = nil
        note = nil
    }

    mutating func reportProgress(_ done: Double, note: String?) {
        fraction.reportProgress(done)
        self.note = note ?? runningStep
    }

    /// Takes the progress from a manager's event, and returns false if the event says nothing about it.
    mutating func apply(_ event: MigrationEvent) -> Bool {
        let migration = event.version.flatMap { migrations[event.managerName]?[$0] }
        let weight = migration?.weight ?? 1
        switch event.kind {
        case .started:
            isClosureRunning = true
            fraction.beginStep(weight: weight)
            fraction.reportProgress(migration?.checkpoint ?? 0)
        case .progressed:
            // Before the closure begins, the library copies files, which is half of the step.
            if !isClosureRunning, !fraction.isStepRunning { fraction.beginStep(weight: weight / 2) }
            fraction.reportProgress(event.fraction ?? 0)
        case .finished:
            isClosureRunning = false
            fraction.finishStep(weight: weight)
        case .failed:
            isClosureRunning = false
            fraction.leaveStep()
            return false
        default: return false
        }
        // The note of a copy is for a log, and other events have no note for a user.
        note = event.kind == .progressed && isClosureRunning ? event.note : nil
        return true
    }
}
