extension MigrationGate {
    /// The state of an app's start.
    public enum State: Sendable {
        /// The start hasn't begun, because neither ``MigrationGate/ready()`` nor ``MigrationGate/states`` was
        /// used yet.
        case idle

        /// Another process, such as a second copy of the app on a Mac, is migrating.
        ///
        /// This process continues when the other process has finished.
        case waitingForAnotherProcess

        /// The device is still locked: the system denies access to the state, or the start threw
        /// ``RequiresUnlock``.
        ///
        /// The gate tries again by itself.
        ///
        /// If a device hasn't been unlocked since it was booted, the system denies access with the error
        /// `EPERM`, on Apple's systems also with `EACCES`, and on Linux also with `ENOKEY`.
        case waitingForUnlock(any Error)

        /// The start has begun, but no migration is running yet.
        ///
        /// `pending` is the number of pending steps that are known so far.
        case planning(pending: Int)

        /// Migrations are running.
        ///
        /// `fraction` says how much of all the work is done, from 0 to 1. It never falls during a start, even
        /// if a second manager has more to do. If ``MigrationGate/retry()`` begins the start again, the
        /// fraction starts from 0 again.
        ///
        /// `note` describes the current work, and comes from the app.
        case migrating(fraction: Double, note: String?)

        /// The data is ready.
        case ready

        /// A newer release has set a minimum app version that is above the version of this app.
        ///
        /// The app has to be updated to the associated version or a newer version.
        case requiresAppVersion(AppVersion)

        /// The start was cancelled by ``MigrationGate/cancel()``, or by a task that the start itself created.
        ///
        /// Call ``MigrationGate/retry()`` to begin it again.
        case cancelled

        /// The start threw an error.
        ///
        /// Call ``MigrationGate/retry()`` to begin it again.
        case failed(any Error)
    }
}
