/// The latest attempt at a migration that hasn't been recorded as applied yet.
///
/// It is saved before the closure is called. So the attempt may still be running.
package final class Interruption: Sendable {
    /// The text that is saved as the failure of an attempt whose task was cancelled.
    ///
    /// The manager's status doesn't report this text as a failure.
    static var cancellation: String { "The task was cancelled." }

    /// The text that `resetAttempts()` saves as the failure of an attempt whose process died.
    static var resetAfterCrash: String {
        "The process died during this attempt. Later, resetAttempts() was called."
    }

    /// All attempts at the migration, including the latest one.
    ///
    /// Its `deaths` don't include the latest attempt, even if the process of that attempt died.
    package let attempt: AttemptedMigration

    /// True if a snapshot may hold files that have to be restored.
    ///
    /// The list in the snapshot names these files.
    let isProtecting: Bool

    let startedAt: Int64

    /// The error that ended the attempt; `nil` while the closure runs, or if its process died.
    package let failure: String?

    /// The lease of the host that runs the attempt, if the hosts of a fleet share this state.
    ///
    /// It is `nil` if no host runs the attempt. In a state file it is always `nil`, because there the lock
    /// shows whether a process runs the attempt.
    package let lease: Lease?

    package init(
        _ attempt: AttemptedMigration,
        isProtecting: Bool = false,
        at startedAt: Int64,
        failure: String? = nil,
        lease: Lease? = nil
    ) {
        self.attempt = attempt
        self.isProtecting = isProtecting
        self.startedAt = startedAt
        self.failure = failure
        self.lease = lease
    }

    package var version: AppVersion { attempt.version }

    /// True if the process died after the latest attempt had called the closure.
    ///
    /// The attempt must have ended: a running attempt looks the same.
    var closureCrashed: Bool {
        attempt.hasBegun && (failure == nil || failure == Self.resetAfterCrash)
    }

    /// Returns this interruption with the given failure and lease.
    ///
    /// `nil` removes a failure or a lease. If `attempt` is `nil`, the current one is kept.
    func with(
        attempt: AttemptedMigration? = nil,
        failure: String?,
        lease: Lease? = nil
    ) -> Interruption {
        Interruption(
            attempt ?? self.attempt,
            isProtecting: isProtecting,
            at: startedAt,
            failure: failure,
            lease: lease
        )
    }

    /// The record of all attempts, once the latest one has ended.
    ///
    /// If the latest attempt has no failure, its process must have died, so it is counted as a death.
    var outcome: AttemptedMigration {
        failure == nil ? attempt.with(deaths: attempt.deaths + 1) : attempt
    }
}
