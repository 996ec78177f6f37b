/// Watches a manager during a rehearsal, which tests what a crash at each point would leave behind.
package protocol RehearsalHook: AnyObject, Sendable {
    /// Called for each declaration, before anything is decided.
    func declared(_ version: AppVersion, outOfOrder: Bool) -> RehearsalVerdict

    /// Called under the lock at each moment at which the process could die. At that moment, the files on disk
    /// are as a crash would leave them.
    func reached(_ moment: RehearsalMoment)

    /// Called when a closure has returned and isn't recorded yet.
    ///
    /// An error that it returns is treated as if the closure had thrown it.
    func returned(_ version: AppVersion) -> (any Error)?
}

/// The answer of a rehearsal to a declaration.
package enum RehearsalVerdict: Sendable {
    case `continue`

    /// The declaration is skipped: nothing is decided and nothing runs.
    case passOver

    /// The rehearsal plays an older release, which didn't have this declaration. So the declaration throws,
    /// as for a version above the app's.
    case stop
}

/// A moment at which the process could die: a save of the state, or a point at which the closure made its
/// work durable.
package struct RehearsalMoment: Sendable, Equatable {
    package enum Place: Sendable {
        // A closure that protects files has `afterCopying` instead of `beforeInterruption`.
        case afterCopying, beforeInterruption, beforeClosure, afterSynchronize, beforeCommit, afterCommit
        case beforeCheckpoint, afterCheckpoint, beforeRecord, afterRecord
    }

    package let place: Place
    package let version: AppVersion
}
