/// The part of the state that a start needs, without the history.
package struct StateMarks: Equatable, Sendable {
    package internal(set) var lastRun: AppVersion
    package internal(set) var baseline: AppVersion
    package var launched: AppVersion
    private var floor: Floor
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

    /// The oldest app that may use the data; boxed like the others, since few states have one.
    indirect enum Floor: Equatable {
        case none
        case version(AppVersion)
    }

    package init(
        lastRun: AppVersion,
        baseline: AppVersion,
        launched: AppVersion,
        minimumAppVersion: AppVersion = .zero,
        interrupted: Interruption?
    ) {
        self.init(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            .none,
            .no,
            .none
        )
        self.minimumAppVersion = minimumAppVersion
        self.interrupted = interrupted
    }

    init(
        lastRun: AppVersion,
        baseline: AppVersion,
        launched: AppVersion,
        _ floor: Floor,
        _ interruption: Interrupted,
        _ attempts: Attempted
    ) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.floor = floor
        self.interruption = interruption
        self.attempts = attempts
    }

    /// The oldest app that may use the data; zero where every app may.
    package internal(set) var minimumAppVersion: AppVersion {
        @inline(never)
        get { if case .version(let version) = floor { version } else { .zero } }
        set { floor = newValue == .zero ? .none : .version(newValue) }
    }

    /// Whether a newer release shut `current` out.
    private func isBelowFloor(_ current: AppVersion) -> Bool {
        if case .none = floor { false } else { minimumAppVersion.exceeds(current) }
    }

    package var interrupted: Interruption? {
        @inline(never)
        get { if case .during(let interruption) = interruption { interruption } else { nil } }
        set { interruption = newValue.map(Interrupted.during) ?? .no }
    }

    var attempted: [AttemptedMigration] {
        get { if case .versions(let versions) = attempts { versions } else { [] } }
        set { attempts = newValue.isEmpty ? .none : .versions(newValue) }
    }

    /// Whether files wait to be put back, or may have to be.
    var hasLeftover: Bool { interrupted?.isProtecting == true }

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
    package func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || isBelowFloor(current)
    }

    /// The newest version of what ran, was launched and is asked for here: the release, where that lies above `current`.
    package func newest(above current: AppVersion) -> AppVersion {
        let release = max(lastRun.release, launched, minimumAppVersion.release)
        return release > current ? release : max(lastRun, minimumAppVersion)
    }

    /// Whether the floor is to be raised by an app at `current`, which leaves what a newer release said.
    package func lacksFloor(_ version: AppVersion, current: AppVersion) -> Bool {
        minimumAppVersion < version && !isDowngrade(to: current)
    }

    mutating func raiseFloor(to version: AppVersion) { minimumAppVersion = max(minimumAppVersion, version) }

    /// The version up to which a declaration has nothing to do; what lies above is looked at closely.
    func idleLimit(of current: AppVersion) -> AppVersion { min(lastRun, current) }
}
