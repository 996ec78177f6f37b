/// Runs code once, when the app moves past a version.
///
/// **A migration runs at least once; it is recorded only after it returned; nothing is ever skipped because something
/// else failed.** A manager keeps the last-run version of one subsystem in a state file and runs, at once and in the
/// order declared, the closures whose version lies after the stored version and not after the app's.
///
/// ```swift
/// let migrations = try MigrationManager(
///     named: "Library",  // also stateDirectory: off Apple's systems
///     currentVersion: "1.4"
/// )
/// try migrations.whenMigrating(toVersion: "1.1-2") {
///     try renameDrafts()
/// }
/// try migrations.whenMigrating(toVersion: "1.4") {
///     try deleteThumbnails()
/// }
/// // At every start: a new install runs no closure.
/// try database.migrate()
/// ```
///
/// After a declaration threw the manager is closed: every later ``whenMigrating(toVersion:outOfOrder:minimumAppVersion:protecting:run:)-9skx9``
/// throws the code `managerClosed` and runs nothing, so that no `try?` can jump over a failed migration. A new manager starts
/// again. A manager is one sequence of declarations: a second one while one is under way throws the code `nested` and closes
/// nothing. Concurrent callers make a manager each.
public final class MigrationManager: Sendable {
    /// The name of the subsystem, which names its state file.
    public var name: String { file.location.name }

    /// The app's version, the limit of what runs.
    public var currentVersion: AppVersion { release.version }

    /// How this start relates to the last one.
    public let launch: Launch

    let release: AppRelease
    let options: Options
    /// Follows a manager that isn't the app's own.
    let rehearsal: (any RehearsalHook)?
    let declarations: Guarded<Declarations>

    /// Reads the state of the subsystem `name`, and makes it on the first run.
    ///
    /// Where nothing is pending this is all that a start costs: the state file is opened, read and closed. On the
    /// first run, in the first start of a new version, and where protected files of a killed process wait to be put
    /// back, it takes the lock and saves.
    ///
    /// - Parameters:
    ///   - name: The subsystem, in at most 200 of `A-Z a-z 0-9 . _ -`, not beginning with a dot: it names files.
    ///   - currentVersion: The app's version; `nil` asks the main bundle for `CFBundleShortVersionString`.
    ///   - firstRun: The data that is there when there is no state; asked only then, and under the lock.
    ///   - stateDirectory: The absolute path of the folder for the state, which is made if it doesn't exist. `nil` is
    ///     `<bundle identifier>/Migrations` in Application Support, for apps on Apple's systems; a program without a bundle has
    ///     to name its folder, and so has an app on tvOS, which may write to its caches only. Of a `URL` take
    ///     `path(percentEncoded: false)`: on the first run, escapes in the name of a folder that isn't there are refused, and so
    ///     is `~` at the beginning.
    ///   - options: Time-out of the lock, limit of attempts, the oldest version to upgrade from, whether only to look, events.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `invalidVersion`, `unknownCurrentVersion`, `unusableDirectory`,
    ///   `stateUnreadable` (try again later: a locked device before its first unlock, for instance), `stateCorrupted`,
    ///   `stateFromNewerFormat`, `tooOld`, `newerThanCurrentVersion`, `protectionFailed`, `lockTimeout`, `cancelled`
    ///   and `nested` (on the first run, and while another process puts files back), and on the first run `firstRunFailed` and
    ///   `stateNotSaved`. Nothing was run then.
    public init(
        named name: String = "default",
        currentVersion: String? = nil,
        firstRun: @autoclosure () throws -> FirstRun = .freshInstall,
        stateDirectory: String? = nil,
        options: Options = Options()
    ) throws(MigrationError) {
        do throws(MigrationError) {
            let location = try DefaultLocation.of(name, in: stateDirectory, isReadOnly: options.isReadOnly)
            let text = if let currentVersion { currentVersion } else { try DefaultLocation.version(of: name) }
            let current = try AppVersion(text, of: "currentVersion:", manager: name)
            let release = try AppRelease(current, upgradesFrom: options.upgradesFrom, location)
            let start = try Start(release: release, timeout: options.lockTimeout, onEvent: options.onEvent)
                .outcome(firstRun)
            launch = start.launch
            self.release = release
            self.options = options
            rehearsal = nil
            declarations = Guarded(Declarations(start.marks, release))
        } catch {
            throw error.completed(by: "Nothing was run.")
        }
    }

    deinit {
        if declarations.withLock({ $0.endsFreshInstall }) { endFreshInstall() }
    }

    /// A manager of the same start as `manager`, for a plan or a rehearsal.
    init(like manager: MigrationManager, _ declarations: Declarations, with hook: (any RehearsalHook)? = nil)
    {
        launch = manager.launch
        release = manager.release
        options = manager.options
        rehearsal = hook
        self.declarations = Guarded(declarations)
    }
}

extension MigrationManager {
    /// The path of the state file, `<name>.migrations.json` in the state directory.
    public var stateFile: String { file.location.state }

    /// The version up to which everything has run: what lies above it is pending.
    public var lastRunVersion: AppVersion { declarations.withLock { $0.marks.lastRun } }

    /// The oldest version of the app that may use the data, where that lies above this app; `nil` where this app may.
    ///
    /// A newer release said so with `minimumAppVersion:`. Ask at each start, before anything is read or written, and show that the
    /// app has to be updated. ``launch-property`` is `downgrade(from:)` then, and what is pending throws `usedByNewerApp`.
    public var requiredAppVersion: AppVersion? {
        declarations.withLock { $0.marks.minimumAppVersion(above: currentVersion) }
    }

    var file: StateFile { StateFile(location: release.location) }
    var reporter: Reporter { Reporter(release.location, options.onEvent, rehearsal) }
}

extension MigrationManager {
    /// A manager that goes on from where `manager` is, and tells `hook` each step.
    package convenience init(rehearsing manager: MigrationManager, with hook: any RehearsalHook) {
        self.init(like: manager, manager.declarations.withLock { $0.observed() }, with: hook)
    }

    /// The failure that closed the manager, also where the app's own code swallowed it.
    package var firstFailure: MigrationError? { declarations.withLock { $0.firstFailure } }

    /// How long to wait, how often to try, how old data may be, whether only to look, and the handler of events.
    public struct Options: Sendable {
        /// How long to wait for another process that migrates, while the machine is awake; `nil` waits as long as it takes, and zero
        /// 10 ms.
        public var lockTimeout: Duration?

        /// How many processes of one app version may die in one migration before the next start throws
        /// `attemptLimitReached` instead of running it; `nil` is no limit, and less than 1 counts as 1.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// An app that stops declaring its oldest migrations names the newest one that it left out: a state whose
        /// ``MigrationManager/lastRunVersion`` lies below, or a `firstRun:` of `existingData(at:)`, makes `init` throw `tooOld`,
        /// so nothing that is no longer declared is skipped. Name a version that had a migration: only these raise it. A
        /// fresh install is never too old, nor is a first run with `everything`, which begins at nothing: the declarations have to
        /// build all of it.
        public var upgradesFrom: String?

        /// True if the manager only looks: it reads, and makes, saves and puts back nothing, and runs nothing under the lock.
        ///
        /// So it needs no right to write, and never waits. ``MigrationManager/plan(_:)-9ywei``,
        /// ``MigrationManager/status`` and what else only tells work as ever; a declaration that has something to run throws
        /// the code `readOnly`. Where there is no state, `firstRun:` is asked, and only this manager keeps the answer: a manager
        /// that may write asks again.
        public var isReadOnly: Bool

        /// Called on the thread of the caller for everything that a log or a progress display wants to know.
        ///
        /// A handler that declares a migration of the same state gets `nested`. The lock is held while it runs, except during
        /// `waiting` and `failed`: a handler that waits for a thread which declares a migration of this state waits for ever.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        /// Without arguments: waits as long as it takes, tries without limit, upgrades from every version, may write, and has no
        /// handler.
        public init(
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            isReadOnly: Bool = false,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            (self.lockTimeout, self.attemptLimit) = (lockTimeout, attemptLimit)
            (self.upgradesFrom, self.isReadOnly, self.onEvent) = (upgradesFrom, isReadOnly, onEvent)
        }
    }
}
