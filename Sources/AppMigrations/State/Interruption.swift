/// A migration whose closure was begun and isn't recorded.
package struct Interruption: Equatable, Sendable {
    package internal(set) var version: AppVersion
    /// How often the closure was begun, this time included.
    package internal(set) var attempts: Int
    /// How many processes of `appVersion` died in it before this one.
    package internal(set) var deaths: Int
    /// Whether a snapshot holds files that are to be put back; its own list says which.
    var isProtecting: Bool
    package internal(set) var appVersion: AppVersion
    var startedAt: Int64
    /// The error that ended the attempt; `nil` while the closure runs, or when its process died.
    package var failure: String?
    /// How far the closure came in this attempt or an earlier one.
    package internal(set) var checkpoint: Checkpoint?
    /// Which host of a fleet is at work; `nil` where the state is a file, whose lock says that, and where none is.
    package var lease: Lease?

    package init(
        version: AppVersion,
        attempts: Int,
        deaths: Int,
        isProtecting: Bool = false,
        appVersion: AppVersion,
        startedAt: Int64,
        failure: String? = nil,
        checkpoint: Checkpoint? = nil,
        lease: Lease? = nil
    ) {
        self.version = version
        self.attempts = attempts
        self.deaths = deaths
        self.isProtecting = isProtecting
        self.appVersion = appVersion
        self.startedAt = startedAt
        self.failure = failure
        self.checkpoint = checkpoint
        self.lease = lease
    }
}

/// A pending version that was begun before, and isn't the interrupted one.
package struct AttemptedMigration: Equatable, Sendable {
    var version: AppVersion
    /// How often its closure was begun.
    var attempts: Int
    /// How many processes of `appVersion` died in it.
    var deaths: Int
    var appVersion: AppVersion
    package internal(set) var checkpoint: Checkpoint?
}

extension AttemptedMigration {
    // A state edited by hand may hold a number that has no next one.
    private static var mostAttempts: Int { 999_999_999 }

    /// What an attempt that ended comes to: without a failure its process died.
    init(_ interrupted: Interruption) {
        let deaths = min(interrupted.deaths, Self.mostAttempts) + (interrupted.failure == nil ? 1 : 0)
        self.init(
            version: interrupted.version,
            attempts: min(interrupted.attempts, Self.mostAttempts),
            deaths: deaths,
            appVersion: interrupted.appVersion,
            checkpoint: interrupted.checkpoint
        )
    }
}
