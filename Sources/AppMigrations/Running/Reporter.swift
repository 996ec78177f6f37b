/// Tells the app what a manager does, and a rehearsal at which moments its process could die.
struct Reporter: Sendable {
    let location: StateLocation
    let onEvent: (@Sendable (MigrationEvent) -> Void)?
    var rehearsal: RehearsalHook?

    /// `lock` is the lock's file where the lock is held.
    ///
    /// A handler that declared a migration of the same state would wait for itself; it gets `nested` instead.
    func send(_ event: MigrationEvent, lock: FileIdentity? = nil) {
        guard let onEvent else { return }
        RunToken.marking(location, lock: lock) { onEvent(event) }
    }
}

extension MigrationContext {
    var location: StateLocation { reporter.location }

    /// Tells a rehearsal, if there is one, of a moment at which the process may die.
    package func reach(_ place: RehearsalHook.Moment.Place) {
        reporter.rehearsal?.reached(RehearsalHook.Moment(place: place, version: version))
    }
}

/// The calls by which a rehearsal follows a manager and steps in.
package final class RehearsalHook: Sendable {
    /// The rehearsal's answer to a declaration.
    package enum Verdict: Sendable {
        case `continue`
        /// Nothing is decided or run, as in a plan.
        case passOver
        /// Throws, as for a version above the app's: the release that is rehearsed didn't have this migration.
        case stop
    }

    /// A moment at which the process may die: at a save of the state, or where the closure made its work durable.
    package struct Moment: Sendable, Equatable {
        package enum Place: Sendable {
            // A closure that protects files has `afterCopying` in the place of `beforeIntent`.
            case afterCopying, beforeIntent, beforeClosure, afterSynchronize, beforeCommit, afterCommit
            case beforeCheckpoint, afterCheckpoint, beforeRecord, afterRecord
        }

        package let place: Place
        package let version: AppVersion
    }

    let declared: @Sendable (AppVersion) -> Verdict
    let reached: @Sendable (Moment) -> Void
    let returned: @Sendable (AppVersion) -> (any Error)?

    /// - Parameters:
    ///   - declared: Called for each declaration before anything is decided.
    ///   - reached: Called at each moment, under the lock: the disk then has what a crash would leave.
    ///   - returned: Called when a closure returned and isn't recorded yet; an error counts as thrown by the closure.
    package init(
        declared: @escaping @Sendable (AppVersion) -> Verdict,
        reached: @escaping @Sendable (Moment) -> Void,
        returned: @escaping @Sendable (AppVersion) -> (any Error)?
    ) {
        self.declared = declared
        self.reached = reached
        self.returned = returned
    }
}
