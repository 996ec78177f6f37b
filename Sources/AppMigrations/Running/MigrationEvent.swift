/// Something that a manager did or met, for a log or a progress display.
public struct MigrationEvent: Sendable {
    /// The kind of event.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The name of the manager.
    public let managerName: String

    /// The version of the migration concerned; `nil` for what concerns the whole state.
    public let version: AppVersion?

    /// The last-run version when the migration began.
    public package(set) var previousVersion: AppVersion?

    /// How many times the closure was begun, this time included.
    public package(set) var attempt: Int?

    /// How much of the migration, or of the copy, is done, from 0 to 1; with ``Kind/progressed``.
    public package(set) var fraction: Double?

    /// The work in words; with ``Kind/progressed``, where the closure says it, and while files are copied.
    ///
    /// With ``Kind/waiting`` in a fleet, the host for which this one waits.
    public package(set) var note: String?

    /// How long the closure took; with ``Kind/finished`` and ``Kind/failed``.
    public package(set) var duration: Duration?

    /// The error; with ``Kind/failed`` and ``Kind/leftoverNotRemoved``.
    public package(set) var error: MigrationError?

    /// True if ``Kind/progressed`` comes from the library itself, which copies what `protecting:` names.
    ///
    /// The fraction is that of the copy alone then, and ``note`` names a file of the app: show neither as what the migration says
    /// of itself.
    public package(set) var isCopying: Bool

    /// Makes an event for the preview or the test of a log or a progress display.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - managerName: The name of the manager.
    ///   - version: The version of the migration concerned.
    ///   - previousVersion: The last-run version when the migration began.
    ///   - attempt: How many times the closure was begun, this time included.
    ///   - fraction: How much of the migration, or of the copy, is done, from 0 to 1.
    ///   - note: The work in words.
    ///   - duration: How long the closure took.
    ///   - error: The error.
    ///   - isCopying: True if the library itself reports the progress of a copy.
    public init(
        kind: Kind,
        managerName: String,
        version: AppVersion? = nil,
        previousVersion: AppVersion? = nil,
        attempt: Int? = nil,
        fraction: Double? = nil,
        note: String? = nil,
        duration: Duration? = nil,
        error: MigrationError? = nil,
        isCopying: Bool = false
    ) {
        self.kind = kind
        self.managerName = managerName
        self.version = version
        self.previousVersion = previousVersion
        self.attempt = attempt
        self.fraction = fraction
        self.note = note
        self.duration = duration
        self.error = error
        self.isCopying = isCopying
    }
}

extension MigrationEvent {
    package init(_ kind: Kind, _ managerName: String, version: AppVersion?) {
        self.init(kind: kind, managerName: managerName, version: version)
    }

    /// The kinds of ``MigrationEvent``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// Another process, or another caller in this one, is migrating; sent once a wait, and in a fleet every ten seconds.
        public static var waiting: Kind { Kind("waiting") }

        /// A closure is about to run.
        public static var started: Kind { Kind("started") }

        /// A closure called `MigrationContext.reportProgress(_:note:)`, or `saveCheckpoint(_:progress:)` with a progress; before
        /// `started`, another part of what `protecting:` names is copied.
        ///
        /// For files the fraction is that of the copy alone, told at most at each percent, and the note begins with `copying` and
        /// names the file. A restore renames, and reports itself by ``restored`` alone; if it has to copy to another file system, its
        /// notes begin with `restoring`.
        public static var progressed: Kind { Kind("progressed") }

        /// A closure returned and its version is recorded.
        public static var finished: Kind { Kind("finished") }

        /// A closure threw, or its record could not be saved.
        public static var failed: Kind { Kind("failed") }

        /// Protected files were put back to what they were before a migration that didn't finish.
        public static var restored: Kind { Kind("restored") }

        /// Copies of protected files are still there: they could not be removed, or were put aside.
        ///
        /// Where they are no longer needed, the next holder of the lock tries again to remove them. Where a first run finds them,
        /// the state that asked for them was lost: it moves them to a folder beside the state, or marks them where they can't be
        /// moved. ``MigrationError/path`` names the folder. The library puts nothing of them back and removes nothing.
        public static var leftoverNotRemoved: Kind { Kind("leftoverNotRemoved") }
    }
}

/// Tells the app what a manager does, and a rehearsal at which moments its process could die.
final class Reporter: Sendable {
    let location: StateLocation
    let onEvent: (@Sendable (MigrationEvent) -> Void)?
    let rehearsal: (any RehearsalHook)?

    init(
        _ location: StateLocation,
        _ onEvent: (@Sendable (MigrationEvent) -> Void)? = nil,
        _ rehearsal: (any RehearsalHook)? = nil
    ) {
        (self.location, self.onEvent, self.rehearsal) = (location, onEvent, rehearsal)
    }

    /// A handler that declared a migration of the same state would wait for itself; it gets `nested` instead.
    func send(_ event: MigrationEvent) {
        guard let onEvent else { return }
        RunToken.marking(location) { onEvent(event) }
    }
}

extension MigrationContext {
    var location: StateLocation { reporter.location }

    /// An event of a closure that is about to run, runs, or has ended.
    func event(_ kind: MigrationEvent.Kind) -> MigrationEvent {
        let began = writer.began
        var event = MigrationEvent(kind, location.name, version: began.version)
        (event.previousVersion, event.attempt) = (writer.previousVersion, began.attempt.attempts)
        return event
    }

    /// Tells a rehearsal, if there is one, of a moment at which the process may die.
    package func reach(_ place: RehearsalMoment.Place) {
        reporter.rehearsal?.reached(RehearsalMoment(place: place, version: version))
    }
}

/// Follows a manager that isn't the app's own, and steps in.
package protocol RehearsalHook: AnyObject, Sendable {
    /// Called for each declaration before anything is decided.
    func declared(_ version: AppVersion, outOfOrder: Bool) -> RehearsalVerdict

    /// Called at each moment, under the lock: the disk then has what a crash would leave.
    func reached(_ moment: RehearsalMoment)

    /// Called when a closure returned and isn't recorded yet; an error counts as thrown by the closure.
    func returned(_ version: AppVersion) -> (any Error)?
}

/// The rehearsal's answer to a declaration.
package enum RehearsalVerdict: Sendable {
    case `continue`
    /// Nothing is decided or run, as in a plan.
    case passOver
    /// Throws, as for a version above the app's: the release that is rehearsed didn't have this migration.
    case stop
}

/// A moment at which the process may die: at a save of the state, or where the closure made its work durable.
package struct RehearsalMoment: Sendable, Equatable {
    package enum Place: Sendable {
        // A closure that protects files has `afterCopying` in the place of `beforeIntent`.
        case afterCopying, beforeIntent, beforeClosure, afterSynchronize, beforeCommit, afterCommit
        case beforeCheckpoint, afterCheckpoint, beforeRecord, afterRecord
    }

    package let place: Place
    package let version: AppVersion
}
