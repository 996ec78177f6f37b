/// Something that a manager did or that happened to it, for a log or a progress display.
public struct MigrationEvent: Sendable {
    /// The kind of event.
    ///
    /// More kinds can come with a later release: keep a `default` in a `switch`.
    public let kind: Kind

    /// The name of the manager.
    public let managerName: String

    /// The version of the migration concerned; `nil` if the event concerns the whole state.
    public let version: AppVersion?

    /// The last-run version when the migration began.
    public package(set) var previousVersion: AppVersion?

    /// How many times the closure was begun, this time included.
    public package(set) var attempt: Int?

    /// How much of the migration, or of the copying, is done, from 0 to 1.
    ///
    /// Only ``Kind/progressed`` has it.
    public package(set) var fraction: Double?

    /// A description of the current work.
    ///
    /// ``Kind/progressed`` has it if the closure describes its work, and while files are copied. If several
    /// hosts share one state (a fleet), ``Kind/waiting`` has a note too. It names the host that this host
    /// waits for, or the open transaction that keeps a statement waiting.
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
    package init(_ kind: Kind, managerName: String, version: AppVersion?) {
        self.init(kind: kind, managerName: managerName, version: version)
    }

    /// The kinds of ``MigrationEvent``.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, as it is written in Swift.
        public let description: String

        private init(_ name: StaticString) { description = name.description }

        /// A call waits for the lock, because another process or another caller in this process holds it.
        ///
        /// It is sent once for each wait, and in a fleet every ten seconds. In a fleet it is also sent while a
        /// statement of a running migration waits for a lock in the database.
        public static var waiting: Kind { Kind("waiting") }

        /// A closure is about to run.
        public static var started: Kind { Kind("started") }

        /// A closure called `MigrationContext.reportProgress(_:note:)`, or `saveCheckpoint(_:progress:)` with
        /// a progress.
        ///
        /// Before `started`, it means that a part of the files of `protecting:` was copied.
        ///
        /// While files are copied, the fraction is the progress of the copy only. At most one event is sent
        /// for each percent. Its note begins with `copying` and names the file. A restore renames files and
        /// sends ``restored`` alone. If it has to copy to another file system, it sends this event too, with
        /// notes that begin with `restoring`.
        public static var progressed: Kind { Kind("progressed") }

        /// A closure returned and its version is recorded.
        public static var finished: Kind { Kind("finished") }

        /// A closure threw, or its record could not be saved.
        public static var failed: Kind { Kind("failed") }

        /// The protected files of a migration that didn't finish were restored to what they were before it.
        public static var restored: Kind { Kind("restored") }

        /// Copies of protected files still exist: they could not be removed, or were moved aside.
        ///
        /// Copies that are no longer needed are removed by the next process that takes the lock. If a first
        /// run finds copies, their state was lost. The library then moves them to a folder next to the state,
        /// or marks them as kept if it can't move them. It never restores or removes them.
        /// ``MigrationError/path`` names the folder.
        public static var leftoverNotRemoved: Kind { Kind("leftoverNotRemoved") }
    }
}
