extension MigrationGate {
    /// How far the start of an app is.
    public enum State: Sendable {
        /// The start hasn't begun: ``MigrationGate/ready()`` and ``MigrationGate/states`` weren't used yet.
        case idle

        /// Another process, such as the app's extension, is migrating.
        ///
        /// This process continues when it has finished.
        case waitingForAnotherProcess

        /// The system denies access to the state, or the start threw ``RequiresUnlock``.
        ///
        /// The gate tries again by itself.
        ///
        /// The system denies access on a device that wasn't unlocked since it was started: with `EPERM`, on
        /// Apple's systems also with `EACCES`, and on Linux with `ENOKEY`.
        case waitingForUnlock(any Error)

        /// The start has begun, and no migration runs yet.
        ///
        /// So far `pending` migrations are known.
        case planning(pending: Int)

        /// Migrations run: how much of all of them is done, from 0 to 1, and a note on the work.
        ///
        /// The fraction never falls during a start, even if a second manager has more to do. If
        /// ``MigrationGate/retry()`` begins the start again, it starts from 0. The note is the app's own. It
        /// is `nil` while the library copies the files that `protecting:` names.
        case migrating(fraction: Double, note: String?)

        /// The data is ready.
        case ready

        /// A newer release excluded this one.
        ///
        /// The app has to be updated to this version.
        case requiresAppVersion(AppVersion)

        /// The start was cancelled, by ``MigrationGate/cancel()`` or by a task of its own.
        ///
        /// ``MigrationGate/retry()`` continues it.
        case cancelled

        /// The start threw an error.
        ///
        /// ``MigrationGate/retry()`` begins it again.
        case failed(any Error)
    }
}
