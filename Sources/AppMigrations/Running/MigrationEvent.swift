/// Something that a manager did or that happened to it, for a log or a progress display.
public struct MigrationEvent: Sendable {
    /// The kind of event.
    ///
    /// A later release of this library can add kinds, so a `switch` needs a `default`.
    public let kind: Kind

    /// The name of the manager.
    public let managerName: String

    /// The version of the migration concerned; `nil` if the event concerns the whole state.
    public let version: AppVersion?

    /// The last-run version when the migration began.
    public package(set) var previousVersion: AppVersion?

    /// How many times the closure has been called, including this time.
    public package(set) var attempt: Int?

    /// How much of the migration, or of the copying, is done, from 0 to 1.
    ///
    /// Only ``Kind/progressed`` has it.
    public package(set) var fraction: Double?

    /// A description of the current work.
    ///
    /// ``Kind/progressed`` has a note if the closure passed one, and if the library sends the event while it
    /// copies files. If several hosts share one state (a fleet), ``Kind/waiting`` has a note that names the
    /// host for which this host waits, or the open transaction that keeps a statement waiting.
    /// ``Kind/finished`` has a note if all batches of the migration had ended before, so that none ran. In a
    /// fleet it also has one if the closure called an `SQLMigrator`, and all of its files had run before.
    ///
    /// If the app continues from an old library, with the product `AppMigrationsLegacy`, two more kinds can
    /// have a note. ``Kind/finished`` has one if the migration was recorded without running, because the old
    /// library has run it. ``Kind/oldVersionNotRaised`` has the text of the error.
    public package(set) var note: String?

    /// How long the closure took.
    ///
    /// Only ``Kind/finished`` and ``Kind/failed`` have it.
    public package(set) var duration: Duration?

    /// The error.
    ///
    /// Only ``Kind/failed`` and ``Kind/leftoverNotRemoved`` have it.
    public package(set) var error: MigrationError?

    /// True if ``Kind/progressed`` is sent by the library itself, while it copies the files of `protecting:`.
    ///
    /// In this case, `fraction` is the progress of the copy only, and ``note`` names the file. Don't show
    /// either as the progress of the migration.
    public package(set) var isCopying: Bool

    /// Makes an event for previews and tests of a log or a progress display.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - managerName: The name of the manager.
    ///   - version: The version of the migration concerned.
    ///   - previousVersion: The last-run version when the migration began.
    ///   - attempt: How many times the closure has been called, including this time.
    ///   - fraction: How much of the migration, or of the copy, is done, from 0 to 1.
    ///   - note: A description of the current work.
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

extension MigrationEvent: CustomStringConvertible {
    /// A line for a log, such as `Library finished 1.4, attempt 2, 0.25 seconds`.
    ///
    /// If the event has an error, the line ends with the text of the error. That text may contain paths, and
    /// the text of an error that a closure of the app threw.
    public var description: String {
        var line = "\(managerName) \(kind)"
        if let version { line += " \(version)" }
        if let attempt, attempt > 1 { line += ", attempt \(attempt)" }
        // An app may make an event with any number, and `Int` traps for those that it can't hold.
        if let fraction, 0...1 ~= fraction { line += ", \(Int(fraction * 100)) %" }
        if let note { line += ", \(note)" }
        if let duration { line += ", \(duration)" }
        if let error { line += ": \(error)" }
        return line
    }
}

extension MigrationEvent {
    package init(_ kind: Kind, managerName: String, version: AppVersion?) {
        self.init(kind: kind, managerName: managerName, version: version)
    }

    /// The kind of a ``MigrationEvent``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// A call waits for the lock, because another process or another caller in this process holds it.
        ///
        /// The event is sent once for each wait. If several hosts share one state (a fleet), it is sent every
        /// ten seconds. A fleet also sends it while a statement of a running migration waits for a lock in
        /// the database.
        public static var waiting: Kind { Kind("waiting") }

        /// A closure is about to run.
        public static var started: Kind { Kind("started") }

        /// A closure called `MigrationContext.reportProgress(_:note:)`, or `saveCheckpoint(_:progress:)` with
        /// a progress.
        ///
        /// If it is sent before ``started``, the library is copying the files of `protecting:`. In that case,
        /// the fraction is the progress of the copy only, and the note begins with `copying` and names the
        /// file. At most one event is sent for each percent.
        ///
        /// A restore usually renames files and sends only ``restored``. If it has to copy to another file
        /// system, it also sends this event, with notes that begin with `restoring`.
        public static var progressed: Kind { Kind("progressed") }

        /// A migration is recorded, because its closure returned, or for the reason in
        /// ``MigrationEvent/note``.
        public static var finished: Kind { Kind("finished") }

        /// A closure threw, or the library could not record that it had returned.
        public static var failed: Kind { Kind("failed") }

        /// The protected files of a migration that didn't finish are again as they were before the migration.
        public static var restored: Kind { Kind("restored") }

        /// Copies of protected files, or files that a restore replaced, still exist: they could not be
        /// removed, or were moved aside.
        ///
        /// Copies that could not be removed are removed by the next process that takes the lock. The library
        /// keeps two other kinds of files. It moves them to a folder next to the state, or marks them as kept
        /// if it can't move them, and never restores or removes them:
        /// - Copies that a first run found. The state that they belonged to was lost.
        /// - Files that a restore replaced, if the option ``MigrationManager/Options/keepsReplacedFiles`` is
        ///   set, if they contain the state of a manager, or if the state directory was moved.
        ///
        /// ``MigrationError/path`` of the event's error is the folder. If a replaced file could not be moved,
        /// it is the path of that file.
        public static var leftoverNotRemoved: Kind { Kind("leftoverNotRemoved") }

        /// The version that an old library saved can't be read, so it was not raised.
        ///
        /// The app's start continues. Only the product `AppMigrationsLegacy` sends it, for a declaration
        /// whose migration has already run. ``MigrationEvent/note`` names the key and says what to do.
        public static var oldVersionNotRaised: Kind { Kind("oldVersionNotRaised") }
    }
}
