/// The part of the state that a start needs, without the history.
struct StateMarks: Equatable, Sendable {
    var lastRun: AppVersion
    var baseline: AppVersion
    var launched: AppVersion
    /// The oldest app that may use the data; zero where every app may.
    var oldestReader: AppVersion
    private var interruption: Interrupted
    private var attempts: Attempted

    /// An interruption, or none.
    ///
    /// Not an `Optional`: a start copies the marks, and the first copy of a generic type over one of ours makes the runtime
    /// build that type, which alone takes longer than all the rest of a start.
    indirect enum Interrupted: Equatable {
        case no
        case during(Interruption)
    }

    /// What is known of pending versions besides the interrupted one; boxed for the same reason.
    indirect enum Attempted: Equatable {
        case none
        case versions([AttemptedMigration])
    }

    init(
        lastRun: AppVersion,
        baseline: AppVersion,
        launched: AppVersion,
        oldestReader: AppVersion = .zero,
        interrupted: Interruption?
    ) {
        self.init(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            oldestReader: oldestReader,
            .no,
            .none
        )
        self.interrupted = interrupted
    }

    init(
        lastRun: AppVersion,
        baseline: AppVersion,
        launched: AppVersion,
        oldestReader: AppVersion,
        _ interruption: Interrupted,
        _ attempts: Attempted
    ) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.oldestReader = oldestReader
        self.interruption = interruption
        self.attempts = attempts
    }

    var interrupted: Interruption? {
        @inline(never)
        get { if case .during(let interruption) = interruption { interruption } else { nil } }
        set { interruption = newValue.map(Interrupted.during) ?? .no }
    }

    var attempted: [AttemptedMigration] {
        get { if case .versions(let versions) = attempts { versions } else { [] } }
        set { attempts = newValue.isEmpty ? .none : .versions(newValue) }
    }

    /// Whether files wait to be put back, or may have to be.
    var hasLeftover: Bool { interrupted.map { !$0.protected.isEmpty } ?? false }

    /// Whether the snapshot of a migration that has been recorded may still be there.
    ///
    /// A recorded migration stays the interrupted one until its snapshot is gone: a process that is killed while it removes
    /// the snapshot would leave a copy of the user's data for as long as nobody takes the lock.
    var hasSpentSnapshot: Bool { interrupted.map { $0.version <= lastRun } ?? false }

    /// Whether `interrupted` is there, without a look at what it is.
    var isInterrupted: Bool { if case .during = interruption { true } else { false } }
}

extension StateMarks {
    /// Whether a newer release than `current` ran migrations here, was launched, or shut `current` out.
    ///
    /// The floor counts by itself: it is saved with the intent, and the newer release may have died in its closure before
    /// anything else of it was saved.
    func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || oldestReader.exceeds(current)
    }

    /// The newest version of what ran, was launched and is asked for here: the release, where that lies above `current`.
    func newest(above current: AppVersion) -> AppVersion {
        let release = max(lastRun.release, launched, oldestReader.release)
        return release > current ? release : max(lastRun, oldestReader)
    }

    /// Whether the floor is to be raised by an app at `current`, which leaves what a newer release said.
    func lacksFloor(_ version: AppVersion, current: AppVersion) -> Bool {
        oldestReader < version && !isDowngrade(to: current)
    }

    mutating func raiseFloor(to version: AppVersion) { oldestReader = max(oldestReader, version) }

    /// The version up to which a declaration has nothing to do; what lies above is looked at closely.
    func idleLimit(of current: AppVersion) -> AppVersion { min(lastRun, current) }
}

extension StateMarks {
    /// What is known of the attempts at a pending version; the process that was interrupted in it counts as dead.
    func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interrupted, interrupted.version == version { return AttemptedMigration(interrupted) }
        return attempted.first { $0.version == version }
    }

    /// Notes a new attempt.
    ///
    /// The version interrupted before is still pending, so what is known of it is kept.
    mutating func begin(_ attempt: Interruption) {
        var known = attempted.filter { $0.version != attempt.version }
        if let interrupted, interrupted.version != attempt.version, !hasSpentSnapshot {
            known.removeAll { $0.version == interrupted.version }
            known.append(AttemptedMigration(interrupted))
        }
        attempted = known
        interrupted = attempt
    }

    /// Raises the mark to `version`; what is known of attempts at versions up to the mark goes.
    mutating func pass(_ version: AppVersion) {
        lastRun = max(lastRun, version)
        if let interrupted, interrupted.version <= lastRun { self.interrupted = nil }
        let mark = lastRun
        attempted = attempted.filter { $0.version > mark }
    }
}
