/// Watches a manager during a rehearsal: a test that checks what a crash at each point would leave behind.
package protocol ManagerObserver: AnyObject, Sendable {
    /// Called at each moment, at which the files on disk are as a crash would leave them.
    func observe(_ moment: ObservedMoment) -> ObserverAnswer
}

/// A moment of a declaration: at its beginning, before and after each save, and where the closure makes its
/// work durable.
package struct ObservedMoment: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        /// Before the manager decides anything about the declaration.
        case declared(addedIn: AppVersion?)

        case beforeAttempt, beforeClosure
        case afterSynchronize, beforeCommit, afterCommit, beforeCheckpoint, afterCheckpoint

        /// After the closure has returned.
        case returned

        case beforeRecord, afterRecord
    }

    package let place: Place
    package let version: AppVersion

    /// The path of the original, if the closure works on a copy.
    package var replacing: String?
}

/// What a rehearsal makes of a moment.
package enum ObserverAnswer: Sendable {
    case `continue`

    /// The declaration is skipped: nothing is decided and nothing runs.
    ///
    /// Only ``ObservedMoment/Place/declared(addedIn:)`` can be answered so.
    case skip

    /// The declaration throws, so that the declarations end here.
    ///
    /// The rehearsal simulates an older release that didn't have this version. The error is the same as for a
    /// version above the app's version. Only ``ObservedMoment/Place/declared(addedIn:)`` can be answered
    /// so.
    case stop

    /// The closure is treated as if it had thrown this error.
    ///
    /// Only ``ObservedMoment/Place/returned`` can be answered so.
    case fail(any Error)
}
