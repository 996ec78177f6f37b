public import AppMigrations
@_exported public import AppMigrationsSQL

/// Runs code once for a fleet of hosts that share their data, when the app moves past a version.
///
/// **A migration runs at least once in the life of the data; it is recorded only after it returned; nothing
/// is ever skipped because something else failed.** It works like `MigrationManager`, but it keeps its state
/// in a store that all hosts reach. One host runs a migration under a lease, and the others wait for it. If a
/// host stalls for longer than its lease, it and its successor may both run for a moment. Writes that must
/// refuse the stalled host can compare ``FleetMigrationContext/fence``.
///
/// ```swift
/// let migrations = try await FleetMigrationManager(
///     named: "Notes",
///     currentVersion: "1.3",
///     firstRun: .everything,
///     store: store
/// )
/// try await migrations.whenMigrating(toVersion: "1.2") {
///     try await moveAvatarsToObjectStorage()
/// }
/// ```
///
/// After an error the manager is closed: every later declaration throws the code `managerClosed` and runs
/// nothing. Create a new manager to try again. The declarations of a manager run one after the other. A
/// declaration that begins before the previous one has ended throws the code `nested`, and the manager stays
/// open. Concurrent tasks need a manager each.
public final class FleetMigrationManager: Sendable {
    /// The name of the subsystem.
    ///
    /// Its document in the store has the same name.
    public var name: String { location.name }

    /// The app's version.
    ///
    /// A migration to a later version can't be declared.
    public var currentVersion: AppVersion { rules.appVersion }

    /// How this app's version compares with the newest version that any host has started.
    ///
    /// After ``reset(to:)`` it is `.same`, because a reset makes this app's version the newest that was
    /// started.
    public var launch: MigrationManager.Launch { currentLaunch.withLock { $0 } }

    let currentLaunch: Guarded<MigrationManager.Launch>
    let configuration: FleetConfiguration
    let declarations: Guarded<Declarations>

    var repository: StateRepository { configuration.repository }
    var rules: UpgradeRules { configuration.rules }
    var options: Options { configuration.options }
    var clock: FleetClock { repository.deadline.clock }
    var location: StateLocation { repository.location }

    /// Reads the state of the subsystem `name`, and creates it on the first run of the fleet.
    ///
    /// If nothing is pending, this one read of the store is all that a start costs. On the first run, and at
    /// the first start of a new version, it also writes.
    ///
    /// - Parameters:
    ///   - name: The name of one service's data. It has at most 200 characters from `A-Z a-z 0-9 . _ -`, and
    ///     doesn't begin with a dot. Only the hosts of that service may use it: if two services use one name
    ///     in one store, the migrations of one count as run by the other.
    ///   - currentVersion: The app's version.
    ///   - firstRun: Which data exists already. It is evaluated only if the store has no state. It describes
    ///     the data of the fleet, and not this host: a host that is added later reads the existing state. If
    ///     your migrations create the schema, pass `.everything`. After `.freshInstall`, the sub-migrations
    ///     of the app's version at that time count as run on every host, even those that you add later. So
    ///     put a later change into the next version.
    ///   - store: The store of the state. It is the same for all hosts.
    ///   - options: The length of the lease, timeouts, the limit of attempts, the oldest version to upgrade
    ///     from, whether the manager is read-only, and the event handler.
    /// - Throws: `MigrationError` with the code `invalidName`, `invalidVersion`, `stateUnreadable` (the store
    ///   could not be reached), `stateCorrupted`, `stateFromNewerFormat`, `tooOld`,
    ///   `newerThanCurrentVersion`, `firstRunFailed`, `cancelled` or `stateNotSaved`. In each case nothing
    ///   was run.
    public nonisolated(nonsending) convenience init(
        named name: String,
        currentVersion: String,
        firstRun: @autoclosure () async throws -> MigrationManager.FirstRun,
        store: any FleetStore,
        options: Options = Options()
    ) async throws(MigrationError) {
        let configuration: FleetConfiguration
        let start: StartOutcome
        do throws(MigrationError) {
            configuration = try FleetConfiguration(
                name: name,
                currentVersion: currentVersion,
                store: store,
                options: options
            )
            start = try await configuration.start(firstRun)
        } catch {
            throw error.leaving(.everything)
        }
        let declarations = Declarations(start.versions, under: configuration.rules)
        self.init(configuration, launch: start.launch, declarations: declarations)
    }

    /// Creates a manager from its parts, and reads nothing.
    ///
    /// The public initializer, probes and plans use it.
    init(
        _ configuration: FleetConfiguration,
        launch: MigrationManager.Launch,
        declarations: Declarations
    ) {
        self.configuration = configuration
        currentLaunch = Guarded(launch)
        self.declarations = Guarded(declarations)
    }
}

extension FleetMigrationManager {
    /// The version up to which everything has run, as far as this manager knows.
    public var lastRunVersion: AppVersion { declarations.withLock { $0.versions.lastRun } }

    /// The oldest version of the app that may use the data, if this app is older; `nil` if this app may use
    /// it.
    ///
    /// It is the value that this manager has read. A newer release can raise it later, with
    /// `minimumAppVersion:`. So a server that runs for days should read ``status``.
    public var requiredAppVersion: AppVersion? {
        declarations.withLock { $0.versions.minimumAppVersion(above: currentVersion) }
    }

    func send(_ event: MigrationEvent) { options.onEvent?(event) }
}

extension FleetMigrationManager {
    /// The options of a manager.
    public struct Options: Sendable {
        /// How long the host that runs a migration may give no sign of life before another host takes over.
        ///
        /// The host renews its lease six times in this time. If it can't renew the lease for half of this
        /// time, it gives up. So this limits how long a fleet waits after a crash, and not how long a
        /// migration may take. A value below a second counts as a second, and a value above a day as a day.
        /// Use at least 10 seconds in production: with a shorter lease, a healthy host on a busy machine can
        /// renew it too late. If hosts pass different values, the value of the host that runs the migration
        /// counts.
        public var leaseDuration: Duration

        /// How long to wait for another host that is migrating; `nil` means without a limit.
        ///
        /// If the limit is shorter than your longest migration, a waiting host throws `lockTimeout` although
        /// nothing is wrong. If your orchestrator restarts such a host, it does so again and again.
        public var lockTimeout: Duration?

        /// How many hosts of one app version may crash in a migration, since its last checkpoint, before the
        /// next start throws `attemptLimitReached` instead of running it again.
        ///
        /// An error that the closure throws isn't counted, so each host that starts calls the closure again.
        ///
        /// `nil` means no limit. Values below 1 count as 1. Give the hosts that only wait the same limit, so
        /// that ``FleetMigrationManager/untilMigrated(timeout:_:)`` ends with the same error.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// If the data is older, `init` throws `tooOld`. Otherwise migrations that you no longer declare
        /// would be skipped.
        public var upgradesFrom: String?

        /// True for a read-only manager, which never writes to the store.
        ///
        /// It is meant for hosts that wait for a migration job. ``FleetMigrationManager/isMigrated(_:)``,
        /// plans and the status work. A declaration that has something to run throws the code `readOnly`.
        public var isReadOnly: Bool

        /// The handler of events, for a log or a progress display.
        ///
        /// It may be called on any thread, and on several threads at once: by the calls of the manager, by a
        /// closure that reports progress, and by a background task that reports the transaction for which a
        /// statement waits.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        package var clock = FleetClock()
        /// The name of this host; `nil` means the name of the machine.
        package var host: String?

        /// Creates options.
        ///
        /// By default a lease lasts 30 seconds, waits and attempts have no limit, data of every version is
        /// upgraded, the manager may write, and there is no event handler.
        public init(
            leaseDuration: Duration = .seconds(30),
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            isReadOnly: Bool = false,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            self.leaseDuration = leaseDuration
            self.lockTimeout = lockTimeout
            self.attemptLimit = attemptLimit
            self.upgradesFrom = upgradesFrom
            self.isReadOnly = isReadOnly
            self.onEvent = onEvent
        }

        var leaseLength: Duration { min(max(leaseDuration, .seconds(1)), .seconds(86_400)) }
    }
}
