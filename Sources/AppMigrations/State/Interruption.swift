/// The latest attempt at a migration that hasn't been recorded as applied yet.
///
/// It is saved in the state before the closure is called. So the attempt may still be running, or it has
/// failed, or its process has crashed.
package final class Interruption: Sendable {
    /// The text that is saved as the failure of an attempt whose task was cancelled.
    ///
    /// The manager's status doesn't report this text as a failure.
    static var cancellation: String { "The task was cancelled." }

    /// The text that `resetAttempts()` saves as the failure of an attempt whose process crashed.
    static var resetAfterCrash: String {
        "The process crashed in this attempt. Later, resetAttempts() was called."
    }

    /// All attempts at the migration, including the latest one.
    ///
    /// Its `deaths` (the count of crashes) doesn't include the latest attempt, even if its process crashed.
    package let attempt: AttemptedMigration

    /// True if protected files may have to be restored.
    ///
    /// The snapshot contains their copies, and a list of their paths.
    let isProtecting: Bool

    let startedAt: Int64

    /// The text of the error that ended the attempt; `nil` while the closure runs, or if its process crashed.
    package let failure: String?

    /// The lease of the host that runs the attempt, if the hosts of a fleet share this state.
    ///
    /// It is `nil` if no host runs the attempt. In a state file it is always `nil`: for a state file, the
    /// lock shows whether a process runs the attempt.
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

    /// Returns this interruption with the given failure and lease.
    ///
    /// If `failure` or `lease` is `nil`, it is removed. If `attempt` is `nil`, the current attempt is kept.
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

    /// The record of all attempts, if the latest attempt isn't running any more.
    ///
    /// If the latest attempt has no failure, its process must have crashed, so the crash is counted.
    var outcome: AttemptedMigration {
        failure == nil ? attempt.with(deaths: attempt.deaths + 1) : attempt
    }
}
