/// The part of the state that a start needs, without the history.
package struct StateMarks: Equatable, Sendable {
    package internal(set) var lastRun: AppVersion
    package internal(set) var baseline: AppVersion
    package internal(set) var launched: AppVersion
    /// The oldest app that may use the data; zero where every app may.
    package internal(set) var minimumAppVersion = AppVersion.zero
    /// None or one.
    ///
    /// Not an `Optional`: a start copies the marks, and to copy an `Optional` of a struct of ours makes the runtime build that
    /// type first, which alone takes longer than all the rest of a start. An array is copied as a reference.
    var interruptions: [Interruption] = []
    /// The attempts at pending versions besides the interrupted one.
    var attempted: [AttemptedMigration] = []

    /// Those of a state in which nothing ran and no app was launched.
    package static var nothing: StateMarks { StateMarks(lastRun: .zero, baseline: .zero, launched: .zero) }

    /// The migration whose closure was begun last.
    package var interruption: Interruption? {
        get { interruptions.first }
        set { interruptions = newValue.map { [$0] } ?? [] }
    }

    /// True if files wait to be put back, or may have to be.
    var hasLeftover: Bool { interruptions.contains { $0.isProtecting } }
}

extension StateMarks {
    /// True if a newer release than `current` ran migrations here, was launched, or shut `current` out.
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

    /// The floor, where an app at `current` lies below it.
    package func floor(above current: AppVersion) -> AppVersion? {
        minimumAppVersion.exceeds(current) ? minimumAppVersion : nil
    }

    mutating func raiseFloor(to version: AppVersion) { minimumAppVersion = max(minimumAppVersion, version) }

    /// The attempts at a pending version; the process that was interrupted in it counts as dead.
    package func attempts(at version: AppVersion) -> AttemptedMigration? {
        if let interruption, interruption.version == version { return AttemptedMigration(interruption) }
        return attempted.first { $0.version == version }
    }

    /// Notes a new attempt.
    ///
    /// The version interrupted before is still pending, so what is known of it is kept.
    mutating func begin(_ attempt: Interruption) {
        let interrupted = interruption
        attempted = attempted.filter { $0.version != attempt.version && $0.version != interrupted?.version }
        if let interrupted, interrupted.version != attempt.version {
            attempted.append(AttemptedMigration(interrupted))
        }
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

/// A migration whose closure was begun and isn't recorded.
package struct Interruption: Equatable, Sendable {
    /// A stand-in for the error of an attempt whose task was cancelled, which is no failure.
    static var cancellation: String { "The task was cancelled." }

    /// Its attempts, this one included: `deaths` counts the processes before this one.
    package internal(set) var known: AttemptedMigration
    /// True if a snapshot holds files that are to be put back; the list in it says which.
    var isProtecting = false
    var startedAt: Int64
    /// The error that ended the attempt; `nil` while the closure runs, or when its process died.
    package internal(set) var failure: String?
    /// Which host of a fleet is at work; `nil` where the state is a file, whose lock says that, and where none is.
    package internal(set) var lease: Lease?

    package var version: AppVersion { known.version }
}

extension Interruption {
    /// The intent of a host of a fleet.
    package init(_ known: AttemptedMigration, at time: Int64, _ lease: Lease) {
        self.init(known: known, startedAt: time, lease: lease)
    }
}

/// The attempts at a pending version.
package struct AttemptedMigration: Equatable, Sendable {
    package internal(set) var version: AppVersion
    /// How often its closure was begun.
    package internal(set) var attempts: Int
    /// How many processes of `appVersion` died in it.
    package internal(set) var deaths: Int
    package internal(set) var appVersion: AppVersion
    /// How far the closure came in the last attempt or an earlier one.
    package internal(set) var checkpoint: Checkpoint?
}

extension AttemptedMigration {
    /// The outcome of an attempt that ended: without a failure its process died.
    init(_ interrupted: Interruption) {
        self = interrupted.known
        if interrupted.failure == nil { deaths += 1 }
    }
}

/// How far the closure of a migration came, in its own words.
package struct Checkpoint: Equatable, Sendable {
    package internal(set) var text: String
    /// The version of the app that wrote `text`.
    package internal(set) var appVersion: AppVersion
    /// How much was done then, from 0 to 1.
    var progress: Double?

    package static var sizeLimit: Int { 4_096 }
}

/// Says in the state which host of a fleet runs the interrupted migration, and that it still does.
package struct Lease: Equatable, Sendable {
    /// The host, the process and a random number, which no other holder has.
    package let owner: String
    /// Rises with each renewal.
    package internal(set) var beat: Int
    /// Rises with each lease of this state, whoever holds it.
    package let fence: Int
    /// How long a host that waits has to see the state unchanged before it takes over.
    package let length: Duration
}

extension Lease {
    package init(_ owner: String, fence: Int, length: Duration) {
        self.init(owner: owner, beat: 0, fence: fence, length: length)
    }

    /// True if the two are of one attempt, whatever the beat.
    package func isOfHolder(_ other: Lease) -> Bool {
        owner.utf8.elementsEqual(other.owner.utf8) && fence == other.fence
    }
}
