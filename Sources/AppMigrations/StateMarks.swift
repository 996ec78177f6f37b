/// The part of the state that a start needs, without the history.
struct StateMarks: Equatable, Sendable {
    var lastRun: AppVersion
    var baseline: AppVersion
    var launched: AppVersion
    private var interruption: Interrupted

    /// An interruption, or none.
    ///
    /// Not an `Optional`: a start copies the marks, and the first copy of a generic type over one of ours makes the runtime
    /// build that type, which alone takes longer than all the rest of a start.
    indirect enum Interrupted: Equatable {
        case no
        case during(Interruption)
    }

    init(lastRun: AppVersion, baseline: AppVersion, launched: AppVersion, interrupted: Interruption?) {
        self.init(lastRun: lastRun, baseline: baseline, launched: launched, interruption: .no)
        self.interrupted = interrupted
    }

    init(lastRun: AppVersion, baseline: AppVersion, launched: AppVersion, interruption: Interrupted) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.interruption = interruption
    }

    var interrupted: Interruption? {
        get { if case .during(let interruption) = interruption { interruption } else { nil } }
        set { interruption = newValue.map(Interrupted.during) ?? .no }
    }

    /// Whether files wait to be put back, or may have to be.
    var hasLeftover: Bool { interrupted.map { !$0.protected.isEmpty } ?? false }

    /// Whether `interrupted` is there, without a look at what it is.
    var isInterrupted: Bool { if case .during = interruption { true } else { false } }
}

extension StateMarks {
    /// Whether a newer release than `current` ran migrations here or was launched.
    func isDowngrade(to current: AppVersion) -> Bool { lastRun.exceeds(current) || launched.exceeds(current) }

    /// How a start of `current` relates to the last one.
    func launch(of current: AppVersion) -> MigrationManager.Launch {
        if isDowngrade(to: current) { return .downgrade(from: max(lastRun.release, launched)) }
        return current > launched ? .upgrade(from: launched) : .same
    }

    /// The version up to which a declaration has nothing to do; what lies above is looked at closely.
    func idleLimit(of current: AppVersion) -> AppVersion { min(lastRun, current) }
}
