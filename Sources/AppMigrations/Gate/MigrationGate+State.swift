extension MigrationGate {
    /// How far the start of an app is.
    public enum State: Sendable {
        /// Nobody has asked yet.
        case idle

        /// Another process, such as the app's extension, is migrating; this one goes on when it has finished.
        case waitingForAnotherProcess

        /// The system denies the state, as on a device that wasn't unlocked since it was started (`EPERM`, on Apple's systems
        /// `EACCES` too, on Linux `ENOKEY`), or the start threw ``RequiresUnlock``; the gate tries again by itself.
        case waitingForUnlock(any Error)

        /// The start has begun; `pending` migrations are known to be waiting so far, and none has begun.
        case planning(pending: Int)

        /// Migrations run: how much of all of them is done, from 0 to 1, and a note on the work.
        ///
        /// The fraction never falls within a start, not even when a second manager has more to do; ``MigrationGate/retry()``
        /// begins it anew. The note is the app's own, and `nil` while the library copies what `protecting:` names.
        case migrating(fraction: Double, note: String?)

        /// The data is ready.
        case ready

        /// A newer release shut this one out: the app has to be updated to this version.
        case requiresAppVersion(AppVersion)

        /// The start was cancelled, by ``MigrationGate/cancel()`` or a task of its own; ``MigrationGate/retry()`` goes on.
        case cancelled

        /// The start threw; ``MigrationGate/retry()`` begins it again.
        case failed(any Error)
    }

    /// Thrown where the data needs a newer release of the app than this one.
    ///
    /// A gate throws it where a manager's state says so. A start throws it for data that tells its version elsewhere, such as a
    /// database with a number of its own; then ``MigrationGate/states`` show ``State-enum/requiresAppVersion(_:)``. A manager's
    /// `firstRun:` can throw it too. The closures of migrations and of `migrateStaged` wrap what they throw, and the gate takes
    /// that for ``State-enum/failed(_:)``.
    public struct RequiresAppVersion: Error, CustomStringConvertible {
        /// The oldest version that may use the data.
        public let version: AppVersion

        /// The manager whose data it is.
        public let managerName: String

        /// An error for the start to throw.
        public init(version: AppVersion, managerName: String) {
            self.version = version
            self.managerName = managerName
        }

        public var description: String {
            "The data of manager \"\(managerName)\" needs version \(version) of the app or a newer one. Nothing was run. Update the app."
        }
    }

    /// The error of a start on a device that is still locked: the gate waits, and tries again by itself.
    ///
    /// A state that is there tells so itself, by `stateUnreadable`. Before the first start there is none: throw this before the
    /// manager is made, or from its `firstRun:`. The gate tries again after 0.25 s, and after each time twice as long, up to 4 s.
    public struct RequiresUnlock: Error, CustomStringConvertible {
        /// An error for the start to throw.
        public init() {}

        public var description: String {
            "The device is locked, so that the data can't be read or written. Nothing was run. Unlock the device."
        }
    }
}
