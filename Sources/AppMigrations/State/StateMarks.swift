/// The part of the state that a start needs, without the history.
package struct StateMarks: Equatable, Sendable {
    package internal(set) var lastRun: AppVersion
    package internal(set) var baseline: AppVersion
    package var launched: AppVersion
    /// The oldest app that may use the data; zero where every app may.
    package internal(set) var minimumAppVersion: AppVersion
    private var rarities: Rarities?

    /// What few states hold, in one box.
    ///
    /// A start copies the marks. To copy an `Optional` of a struct of ours makes the runtime build that type first, which alone
    /// takes longer than all the rest of a start; a reference is copied as it is.
    private final class Rarities: Sendable {
        let interruption: Interruption?
        let attempted: [AttemptedMigration]

        init?(_ interruption: Interruption?, _ attempted: [AttemptedMigration]) {
            if interruption == nil, attempted.isEmpty { return nil }
            self.interruption = interruption
            self.attempted = attempted
        }
    }

    package init(
        lastRun: AppVersion,
        baseline: AppVersion,
        launched: AppVersion,
        minimumAppVersion: AppVersion = .zero
    ) {
        self.lastRun = lastRun
        self.baseline = baseline
        self.launched = launched
        self.minimumAppVersion = minimumAppVersion
    }

    /// The migration whose closure was begun last.
    ///
    /// It outlives the record until the copies of its files are removed.
    package var interruption: Interruption? {
        get { rarities?.interruption }
        set { rarities = Rarities(newValue, attempted) }
    }

    /// What is known of pending versions besides the interrupted one.
    var attempted: [AttemptedMigration] {
        get { rarities?.attempted ?? [] }
        set { rarities = Rarities(interruption, newValue) }
    }

    package static func == (left: StateMarks, right: StateMarks) -> Bool {
        left.lastRun == right.lastRun && left.baseline == right.baseline && left.launched == right.launched
            && left.minimumAppVersion == right.minimumAppVersion && left.interruption == right.interruption
            && left.attempted == right.attempted
    }

    /// Whether files wait to be put back, or may have to be.
    var hasLeftover: Bool { interruption?.isProtecting == true }

    /// Whether the snapshot of a migration that has been recorded may still be there.
    ///
    /// A process that is killed while it removes the snapshot would leave a copy of the user's data for as long as nobody takes
    /// the lock.
    var hasSpentSnapshot: Bool { interruption.map { $0.version <= lastRun } ?? false }

    /// Whether there is an ``interruption``.
    var isInterrupted: Bool { if let rarities { rarities.interruption != nil } else { false } }
}

extension StateMarks {
    /// Whether a newer release than `current` ran migrations here, was launched, or shut `current` out.
    ///
    /// The floor counts by itself: it is saved with the intent, and the newer release may have died in its closure before
    /// anything else of it was saved.
    package func isDowngrade(to current: AppVersion) -> Bool {
        lastRun.exceeds(current) || launched.exceeds(current) || minimumAppVersion.exceeds(current)
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
}

extension StateMarks {
    /// What is known of the attempts at a pending version; the process that was interrupted in it counts as dead.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interruption, interruption.version == version { return AttemptedMigration(interruption) }
        return attempted.first { $0.version == version }
    }

    /// Notes a new attempt.
    ///
    /// The version interrupted before is still pending, so what is known of it is kept.
    mutating func begin(_ attempt: Interruption) {
        var known = attempted.filter { $0.version != attempt.version }
        if let interruption, interruption.version != attempt.version, !hasSpentSnapshot {
            known.removeAll { $0.version == interruption.version }
            known.append(AttemptedMigration(interruption))
        }
        attempted = known
        interruption = attempt
    }

    /// Raises the mark to `version`; what is known of attempts at versions up to the mark goes.
    mutating func pass(_ version: AppVersion) {
        lastRun = max(lastRun, version)
        if let interruption, interruption.version <= lastRun { self.interruption = nil }
        let mark = lastRun
        attempted = attempted.filter { $0.version > mark }
    }
}

extension StateMarks {
    /// Forgets the processes that died in pending migrations; how often these were begun stays.
    package mutating func resetAttempts() {
        for index in attempted.indices { attempted[index].deaths = 0 }
        interruption?.deaths = 0
        // Without a failure the last process counts as dead.
        if interruption?.failure == nil {
            interruption?.failure = "Its process died; resetAttempts() was called since."
        }
    }
}
