/// Who watches a manager that isn't the app's own: a plan or a rehearsal.
///
/// One reference that is `nil` in an app, so that neither costs a start anything.
final class Witness: Sendable {
    let planner: PlanRecorder?
    let rehearsal: RehearsalHook?

    init(planner: PlanRecorder? = nil, rehearsal: RehearsalHook? = nil) {
        self.planner = planner
        self.rehearsal = rehearsal
    }
}

/// What a rehearsal sees of a manager, and where it steps in.
package final class RehearsalHook: Sendable {
    /// What becomes of a declaration.
    package enum Verdict: Sendable {
        case `continue`
        /// Nothing is decided or run, as in a plan.
        case passOver
        /// Throws, as for a version above the app's: the release that is rehearsed didn't have this migration.
        case stop
    }

    /// A moment before or after a save of the state, at which the process may die.
    package struct Moment: Sendable, Equatable {
        package enum Place: Sendable { case beforeIntent, beforeClosure, beforeRecord, afterRecord }

        package let place: Place
        package let version: AppVersion
        /// Whether the closure's files were copied, so that they can be put back.
        package let isProtecting: Bool
    }

    let declared: @Sendable (AppVersion) -> Verdict
    let reached: @Sendable (Moment) -> Void
    let returned: @Sendable (AppVersion) -> (any Error)?

    /// - Parameters:
    ///   - declared: Called for each declaration before anything is decided.
    ///   - reached: Called before and after each save, under the lock: what is on the disk then is what a death leaves.
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

extension MigrationManager {
    /// A manager that goes on where `manager` stands and shows `hook` what it does.
    package convenience init(rehearsing manager: MigrationManager, with hook: RehearsalHook) {
        var core = manager.core.withLock { Core(marks: $0.marks, isFresh: $0.isFresh, fastLimit: .zero) }
        // As under a plan, no declaration may pass without the closer look, which asks the hook.
        core.plansUnderWay = 1
        self.init(like: manager, for: Witness(rehearsal: hook), core: core)
    }

    /// The failure that closed the manager, also where the app's own code swallowed it.
    package var firstFailure: MigrationError? {
        core.withLock { core in
            if case .closed(let first) = core.standing { first } else { nil }
        }
    }

    var planner: PlanRecorder? { witness?.planner }
    var rehearsal: RehearsalHook? { witness?.rehearsal }

    func reach(_ place: RehearsalHook.Moment.Place, _ version: AppVersion, isProtecting: Bool) {
        rehearsal?.reached(RehearsalHook.Moment(place: place, version: version, isProtecting: isProtecting))
    }

    /// Asks the hook, if there is one, whether a declaration is to be decided about.
    func isRehearsed(_ version: AppVersion) throws(MigrationError) -> Bool {
        switch rehearsal?.declared(version) ?? .continue {
        case .continue: return true
        case .passOver: return false
        case .stop: throw refused(.newer(version, current: currentVersion, file.location))
        }
    }
}
