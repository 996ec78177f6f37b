/// A migration whose closure was begun and isn't recorded.
package struct Interruption: Equatable, Sendable {
    /// A stand-in for the error of an attempt whose task was cancelled, which is no failure.
    static var cancellation: String { "The task was cancelled." }

    /// Its attempts, this one included: `deaths` counts the processes before this one.
    package internal(set) var known: AttemptedMigration
    /// True if a snapshot holds files that are to be put back; the list in it says which.
    var isProtecting: Bool
    var startedAt: Int64
    /// The error that ended the attempt; `nil` while the closure runs, or when its process died.
    package var failure: String?
    /// Which host of a fleet is at work; `nil` where the state is a file, whose lock says that, and where none is.
    package var lease: Lease?

    package init(
        _ known: AttemptedMigration,
        isProtecting: Bool = false,
        startedAt: Int64,
        failure: String? = nil,
        lease: Lease? = nil
    ) {
        self.known = known
        self.isProtecting = isProtecting
        self.startedAt = startedAt
        self.failure = failure
        self.lease = lease
    }

    package var version: AppVersion { known.version }
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
    package var beat: Int
    /// Rises with each lease of this state, whoever holds it.
    package let fence: Int
    /// How long a host that waits has to see the state unchanged before it takes over.
    package let length: Duration

    package init(owner: String, beat: Int, fence: Int, length: Duration) {
        self.owner = owner
        self.beat = beat
        self.fence = fence
        self.length = length
    }

    /// True if the two are of one attempt, whatever the beat.
    package func isOfHolder(_ other: Lease) -> Bool {
        owner.utf8.elementsEqual(other.owner.utf8) && fence == other.fence
    }
}
