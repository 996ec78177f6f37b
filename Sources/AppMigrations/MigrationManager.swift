/// Runs a piece of code once when the app is updated to a given version or a later one.
///
/// **A migration runs at least once. It is recorded only after it returned. Nothing is ever skipped because
/// something else failed.** A manager keeps the last-run version of one subsystem in a state file. When you
/// declare a closure, the manager runs it immediately if its version is above the stored version and isn't
/// above the app's version. So closures run in the order in which you declare them.
///
/// ```swift
/// let migrations = try MigrationManager(
///     named: "Library",  // Linux also needs stateDirectory:
///     currentVersion: "1.4"
/// )
/// try migrations.whenMigrating(toVersion: "1.1-2") {
///     try renameDrafts()
/// }
/// try migrations.whenMigrating(toVersion: "1.4") {
///     try deleteThumbnails()
/// }
/// // At every start. It also makes the tables of a new install,
/// // which runs no closure.
/// try database.migrate()
/// ```
///
/// After a declaration has thrown, the manager is closed: every later
/// ``whenMigrating(toVersion:addedIn:minimumAppVersion:run:)-6u8kp`` throws the code
/// `managerClosed` and runs nothing. So a failed migration isn't skipped even if the app ignores the error
/// with `try?`. To try again, create a new manager and declare the migrations again.
///
/// Use a manager from one place, one declaration after the other. If a declaration begins while another
/// declaration of the same manager is running, it throws the code `nested`, and the manager stays open. If
/// several threads or tasks migrate, create a manager for each.
public final class MigrationManager: Sendable {
    /// The name of the subsystem, which is also a part of the name of its state file.
    public var name: String { location.name }

    /// The app's version, up to which migrations run.
    public var currentVersion: AppVersion { rules.appVersion }

    /// Whether this is the first start, an upgrade, a downgrade, or a start of the same version as before.
    public let launch: Launch

    let rules: UpgradeRules
    let options: Options

    /// Watches this manager during a rehearsal (a test run on a copy of the data); `nil` in an app.
    let observer: (any ManagerObserver)?
    let declarations: Guarded<Declarations>

    /// Reads the state of the subsystem `name`, or creates it on the first run.
    ///
    /// If nothing is pending, a start only opens, reads and closes the state file. This initializer takes the
    /// lock and saves the state in three cases only: on the first run, at the first start of a new app
    /// version, and after a process died while it was replacing a file or a folder. Otherwise it reads only
    /// the beginning of the state, so it doesn't notice damage behind that.
    ///
    /// - Parameters:
    ///   - name: The name of the subsystem. It becomes a part of file names. So it must have 1 to 200 of the
    ///     characters `A-Z a-z 0-9 . _ -`, and must not begin with a dot.
    ///   - currentVersion: The app's version. If it is `nil`, `CFBundleShortVersionString` of the main bundle
    ///     is used.
    ///   - firstRun: Says which data already exists if there is no state. The expression is evaluated only in
    ///     that case, while the lock is held.
    ///   - stateDirectory: The absolute path of the folder for the state. It is created if it doesn't exist.
    ///     `nil` means `<bundle identifier>/Migrations` in Application Support, for apps on Apple's systems.
    ///     A program without a bundle has to name its folder. An app on tvOS also has to name its folder,
    ///     because it may write only to its caches folder. On Apple's systems, you can also pass a `URL`;
    ///     elsewhere pass its `path(percentEncoded: false)`. On the first run, a folder that doesn't exist is
    ///     refused if its name contains percent escapes or begins with `~`.
    ///   - options: How long to wait for the lock, how often to try, the oldest version to upgrade from,
    ///     whether the manager is read-only, and the handler of events.
    /// - Throws: ``MigrationError`` with the code `invalidName`, `invalidVersion`, `unknownCurrentVersion`,
    ///   `unusableDirectory`, `stateUnreadable` (for example on a device before its first unlock: try again
    ///   later), `stateCorrupted`, `stateFromNewerFormat`, `tooOld` or `newerThanCurrentVersion`. On the
    ///   first run, it can also throw `lockTimeout`, `cancelled`, `nested`, `firstRunFailed` and
    ///   `stateNotSaved`. After a process died while it was replacing a file or a folder, it can throw
    ///   `replacementFailed` and `stateNotSaved`. If it throws, no migration was run.
    public init(
        named name: String = "default",
        currentVersion: String? = nil,
        firstRun: @autoclosure () throws -> FirstRun = .freshInstall,
        stateDirectory: String? = nil,
        options: Options = Options()
    ) throws(MigrationError) {
        do throws(MigrationError) {
            let location = try DefaultLocation.of(name, in: stateDirectory)
            let text = if let currentVersion { currentVersion } else { try DefaultLocation.version(of: name) }
            let current = try AppVersion(text, of: "currentVersion:", manager: name)
            let rules = try UpgradeRules(
                appVersion: current,
                upgradesFrom: options.upgradesFrom,
                in: location
            )
            let start = try Start(rules: rules, options: options).outcome(firstRun)
            launch = start.launch
            self.rules = rules
            self.options = options
            observer = nil
            declarations = Guarded(Declarations(start.versions, under: rules))
        } catch {
            throw error.leaving(.everything)
        }
    }

    deinit {
        if declarations.withLock({ $0.endsFreshInstall }) { endFreshInstall() }
    }

    /// Makes a manager with the launch, rules and options of `manager`, for a plan or a rehearsal.
    init(
        like manager: MigrationManager,
        declarations: Declarations,
        observer: (any ManagerObserver)? = nil
    ) {
        launch = manager.launch
        rules = manager.rules
        options = manager.options
        self.observer = observer
        self.declarations = Guarded(declarations)
    }
}

extension MigrationManager {
    /// The path of the state file, `<name>.migrations.json` in the state directory.
    public var stateFile: String { location.state }

    /// The version up to which everything has run.
    ///
    /// Every version above it is pending.
    public var lastRunVersion: AppVersion { declarations.withLock { $0.versions.lastRun } }

    /// The oldest version of the app that may use the data, if this app is too old to use it.
    ///
    /// It is `nil` if this app may use the data. A newer release has set it with `minimumAppVersion:`.
    ///
    /// Check this property at each start, before the app reads or writes its data. If it isn't `nil`, tell
    /// the user to update the app. In that case, ``launch-property`` is `downgrade(from:)`, and a pending
    /// migration throws `usedByNewerApp`.
    public var requiredAppVersion: AppVersion? {
        declarations.withLock { $0.versions.minimumAppVersion(above: currentVersion) }
    }

    var location: StateLocation { rules.location }
    var file: StateFile { StateFile(location: location) }
}

extension MigrationManager {
    /// Makes a manager for a rehearsal, which continues after the declarations of `manager` so far.
    ///
    /// The manager calls `observer` at each declaration and at each point at which the rehearsal simulates a
    /// crash.
    package convenience init(rehearsing manager: MigrationManager, observedBy observer: any ManagerObserver) {
        self.init(
            like: manager,
            declarations: manager.declarations.withLock { $0.observed() },
            observer: observer
        )
    }

    /// True if this manager may record migrations; false if it makes a plan or is read-only.
    package var recordsMigrations: Bool {
        !options.isReadOnly && !declarations.withLock { $0.isPlanned }
    }

    /// Sends an event about the migration of `version`.
    package func send(_ kind: MigrationEvent.Kind, version: AppVersion, note: String) {
        location.send(kind, of: version, note: note, to: options.onEvent)
    }

    /// The error that closed the manager, even if the app has ignored that error.
    package var firstFailure: MigrationError? { declarations.withLock { $0.firstFailure } }
}
