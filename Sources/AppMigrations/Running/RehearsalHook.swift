/// Watches a manager during a rehearsal: a test that checks what a crash at each point would leave behind.
package protocol RehearsalHook: AnyObject, Sendable {
    /// Called for each declaration, before the manager decides anything about it.
    func declared(_ version: AppVersion, outOfOrder: Bool) -> RehearsalAnswer

    /// Called while the lock is held, before and after each step that changes files. At that moment, the
    /// files on disk are as a crash would leave them.
    func reached(_ moment: RehearsalMoment)

    /// Called after a closure has returned, before its migration is recorded.
    ///
    /// If this function returns an error, the manager treats it as if the closure had thrown it.
    func returned(_ version: AppVersion) -> (any Error)?
}

/// What a rehearsal, which is a test that simulates older releases and crashes, does with a declaration.
package enum RehearsalAnswer: Sendable {
    case `continue`

    /// The declaration is skipped: nothing is decided and nothing runs.
    case skip

    /// The declaration throws, so that the declarations end here.
    ///
    /// The rehearsal simulates an older release that didn't have this version. The error is the same as for a
    /// version above the app's version.
    case stop
}

/// A moment at which the process could crash: a save of the state, or a point at which the closure made its
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
