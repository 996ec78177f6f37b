/// The latest attempt at a migration that is not recorded yet.
package final class Interruption: Sendable {
    /// The text that is saved as the failure of an attempt whose task was cancelled.
    ///
    /// A status doesn't report it as a failure.
    static var cancellation: String { "The task was cancelled." }

    /// The attempts at the migration, including this one; its `deaths` don't include this one.
    package let attempt: AttemptedMigration

    /// True if a snapshot may hold files that have to be restored.
    ///
    /// The list in the snapshot says which.
    let isProtecting: Bool

    let startedAt: Int64

    /// The error that ended the attempt; `nil` while the closure runs, or if its process died.
    package let failure: String?

    /// The lease of the host of a fleet that runs the attempt.
    ///
    /// It is `nil` if no host runs it. In a state file it is always `nil`: the lock says whether a process
    /// runs the attempt.
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

    /// Returns this interruption with another failure and lease, and with other counts if they are given.
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

    /// The attempts now that this one has ended.
    ///
    /// If it has no failure, its process died.
    var outcome: AttemptedMigration {
        failure == nil ? attempt.with(deaths: attempt.deaths + 1) : attempt
    }
}
