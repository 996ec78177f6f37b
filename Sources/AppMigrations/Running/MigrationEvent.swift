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

    /// How much of the migration is done, from 0 to 1.
    ///
    /// Only ``Kind/progressed`` has it.
    public package(set) var fraction: Double?

    /// A description of the current work, or what is special about this event.
    ///
    /// Each kind says which note it can have.
    public package(set) var note: String?

    /// How long the closure took.
    ///
    /// Only ``Kind/finished`` and ``Kind/failed`` have it.
    public package(set) var duration: Duration?

    /// The error.
    ///
    /// Only ``Kind/failed`` and ``Kind/leftoverNotRemoved`` have it.
    public package(set) var error: MigrationError?

    /// Makes an event for previews and tests of a log or a progress display.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - managerName: The name of the manager.
    ///   - version: The version of the migration concerned.
    ///   - previousVersion: The last-run version when the migration began.
    ///   - attempt: How many times the closure has been called, including this time.
    ///   - fraction: How much of the migration is done, from 0 to 1.
    ///   - note: A description of the current work.
    ///   - duration: How long the closure took.
    ///   - error: The error.
    public init(
        kind: Kind,
        managerName: String,
        version: AppVersion? = nil,
        previousVersion: AppVersion? = nil,
        attempt: Int? = nil,
        fraction: Double? = nil,
        note: String? = nil,
        duration: Duration? = nil,
        error: MigrationError? = nil
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

        /// Makes a kind; each module declares the kinds of its own events.
        package init(_ name: StaticString) { description = name.description }

        /// A call waits for the lock, because another process or another caller in this process holds it.
        ///
        /// The event is sent once for each wait. If several hosts share one state (a fleet), it is sent every
        /// ten seconds, and its note names the host for which this host waits. A fleet also sends it while a
        /// statement of a running migration waits for a lock in the database. Its note then names the open
        /// transaction that has the lock.
        public static var waiting: Kind { Kind("waiting") }

        /// A closure is about to run.
        public static var started: Kind { Kind("started") }

        /// A closure called `MigrationContext.reportProgress(_:note:)`, or `saveCheckpoint(_:progress:)` with
        /// a progress.
        ///
        /// Its note is the one that the closure passed. If it is sent before ``started``, the library copies
        /// what the migration replaces: the fraction is that of the copy, and the note names the file.
        public static var progressed: Kind { Kind("progressed") }

        /// A migration is recorded.
        ///
        /// If a process died between a replacement and its record, a later start records the migration
        /// without an event.
        ///
        /// It has a note if no work was left to do. There are three such cases:
        /// - All batches of the migration had already been committed.
        /// - An old library had already run the migration (`AppMigrationsLegacy`).
        /// - In a fleet, the closure called an `SQLMigrator`, and all of its files had already run.
        public static var finished: Kind { Kind("finished") }

        /// A closure threw, or the library could not record that it had returned.
        public static var failed: Kind { Kind("failed") }

        /// Something was found in the place of a file or folder that a migration replaces, while the original
        /// wasn't there.
        ///
        /// A process made it between the two renames of a replacement, or after a process had died between
        /// them. Nothing is lost: it was renamed to `<name>.found-<time>`, and the event's note is its new
        /// path.
        public static var filesFound: Kind { Kind("filesFound") }

        /// A folder that a replacement has left could not be removed, or must not be.
        ///
        /// **It may contain the only original of the data**, if a process died in a replacement that the
        /// state doesn't know. The event's error says so. So never remove it without a look at it.
        ///
        /// ``MigrationError/path`` of the event's error is the folder. If its name contains `.left-`, nothing
        /// tries again to remove it. Otherwise the next start does, or the next migration that replaces the
        /// same path.
        public static var leftoverNotRemoved: Kind { Kind("leftoverNotRemoved") }
    }
}
