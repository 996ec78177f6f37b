public import AppMigrations  // `Declarations` says what the fleet takes of it.
@_exported public import AppMigrationsSQL

/// Runs code once for a fleet of hosts that share their data, when the app moves past a version.
///
/// **A migration runs at least once in the life of the data; it is recorded only after it returned; nothing is ever skipped
/// because something else failed.** It is `MigrationManager` with another home for its state: a store that all hosts
/// reach. One host runs a migration under a lease, and the others wait for it. A host that stalls for longer than its
/// lease may overlap with its successor for a moment, and ``FleetMigrationContext/fence`` is for what has to refuse it
/// then.
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
/// After any throw the manager is closed: every later declaration throws the code `managerClosed` and runs nothing. A new manager
/// starts again. A manager is one sequence of declarations: a second one while one is under way throws the code `nested` and closes
/// nothing. Concurrent tasks make a manager each.
public final class FleetMigrationManager: Sendable {
    /// The name of the subsystem, which names its document in the store.
    public var name: String { location.name }

    /// The app's version, the limit of what runs.
    public var currentVersion: AppVersion { rules.appVersion }

    /// How this start relates to the last one of any host.
    ///
    /// After ``reset(to:)`` it is `.same`, since a reset makes this app's version the newest that was launched.
    public var launch: MigrationManager.Launch { currentLaunch.withLock { $0 } }

    let currentLaunch: Guarded<MigrationManager.Launch>
    let place: FleetPlace
    let declarations: Guarded<Declarations>

    var stored: StoredState { place.stored }
    var rules: UpgradeRules { place.rules }
    var options: Options { place.options }
    var clock: FleetClock { stored.deadline.clock }
    var location: StateLocation { stored.location }

    /// Reads the state of the subsystem `name`, and makes it on the first run of the fleet.
    ///
    /// Where nothing is pending this is all that a start costs: the store is read once. On the first run, and in the
    /// first start of a new version, it writes.
    ///
    /// - Parameters:
    ///   - name: The name of one service's data, in at most 200 of `A-Z a-z 0-9 . _ -`, not beginning with a dot.
    ///     Only the hosts of that service may use it: if two services use one name in one store, the migrations of
    ///     one count as run by the other.
    ///   - currentVersion: The app's version.
    ///   - firstRun: The data that is there when the store has no state; asked only then. It is about the data of the fleet: a host
    ///     that is added later finds the state and asks nothing. Where migrations make the schema it is `.everything`. After
    ///     `.freshInstall` the sub-migrations of that version belong to the baseline on every host, one that is added later
    ///     as well: give that one the next version.
    ///   - store: Where the state is kept, the same for all hosts.
    ///   - options: Length of the lease, time-out, limit of attempts, the oldest version to upgrade from, whether only to look,
    ///     events.
    /// - Throws: `MigrationError` with the code `invalidName`, `invalidVersion`, `stateUnreadable` (the store could not be
    ///   reached), `stateCorrupted`, `stateFromNewerFormat`, `tooOld`, `newerThanCurrentVersion`, `firstRunFailed`, `cancelled` or
    ///   `stateNotSaved`. Nothing was run then.
    public nonisolated(nonsending) convenience init(
        named name: String,
        currentVersion: String,
        firstRun: @autoclosure () async throws -> MigrationManager.FirstRun,
        store: any FleetStore,
        options: Options = Options()
    ) async throws(MigrationError) {
        let place: FleetPlace
        let start: StartOutcome
        do throws(MigrationError) {
            place = try FleetPlace(name, currentVersion, store, options)
            start = try await place.start(firstRun)
        } catch {
            throw error.completed(by: "Nothing was run.")
        }
        let declarations = Declarations(start.versions, under: place.rules)
        self.init(place, launch: start.launch, declarations)
    }

    /// A manager that has read nothing yet, or of the same start, for a probe or a plan.
    init(_ place: FleetPlace, launch: MigrationManager.Launch, _ declarations: Declarations) {
        self.place = place
        currentLaunch = Guarded(launch)
        self.declarations = Guarded(declarations)
    }
}

extension FleetMigrationManager {
    /// The version up to which everything has run, as far as this manager knows.
    public var lastRunVersion: AppVersion { declarations.withLock { $0.versions.lastRun } }

    /// The oldest version of the app that may use the data, where that lies above this app; `nil` where this app may.
    ///
    /// It is what this manager has read. A server that goes on for days asks ``status`` for what the store says now: a newer
    /// release may have raised it since, with `minimumAppVersion:`.
    public var requiredAppVersion: AppVersion? {
        declarations.withLock { $0.versions.minimumAppVersion(above: currentVersion) }
    }

    func send(_ event: MigrationEvent) { options.onEvent?(event) }
}

extension FleetMigrationManager {
    /// How long a lease is, how long to wait, how often to try, how old data may be, whether only to look, and the handler of
    /// events.
    public struct Options: Sendable {
        /// How long other hosts have to see no sign of the host that runs a migration before one of them takes over.
        ///
        /// The host renews its lease six times in it, and gives up where it could not for half of it. It bounds how long a fleet
        /// stands still after a death, and not how long a migration may take. It is a second at least, and a day at
        /// most. Hosts may differ: what counts is the length that the host at work has written.
        public var leaseDuration: Duration

        /// How long to wait for another host that is migrating; `nil` waits as long as it takes.
        ///
        /// A bound that is shorter than the longest migration restarts healthy hosts again and again.
        public var lockTimeout: Duration?

        /// How many hosts with one app version may die in one migration, since its last checkpoint, before the next start throws
        /// `attemptLimitReached` instead of running it; `nil` is no limit, and less than 1 counts as 1.
        ///
        /// Give the hosts that only wait the same limit: ``FleetMigrationManager/untilMigrated(timeout:_:)`` ends there.
        public var attemptLimit: Int?

        /// The oldest version from which this app upgrades; `nil` upgrades from every version.
        ///
        /// Data below it makes `init` throw `tooOld`, and what is no longer declared isn't skipped.
        public var upgradesFrom: String?

        /// True for a manager that only looks: it reads, and writes nothing to the store.
        ///
        /// For the hosts that wait for a migration job. ``FleetMigrationManager/isMigrated(_:)`` and what else only tells work as
        /// ever; a declaration that has something to run throws the code `readOnly`.
        public var isReadOnly: Bool

        /// Called for everything that a log or a progress display wants to know, on the thread of the caller.
        public var onEvent: (@Sendable (MigrationEvent) -> Void)?

        package var clock = FleetClock()
        /// The name of this host; `nil` is the machine's.
        package var host: String?

        /// Without arguments: a lease of 30 seconds, waits as long as it takes, tries without limit, upgrades from every version,
        /// may write, and has no handler.
        public init(
            leaseDuration: Duration = .seconds(30),
            lockTimeout: Duration? = nil,
            attemptLimit: Int? = nil,
            upgradesFrom: String? = nil,
            isReadOnly: Bool = false,
            onEvent: (@Sendable (MigrationEvent) -> Void)? = nil
        ) {
            (self.leaseDuration, self.lockTimeout) = (leaseDuration, lockTimeout)
            (self.attemptLimit, self.upgradesFrom) = (attemptLimit, upgradesFrom)
            (self.isReadOnly, self.onEvent) = (isReadOnly, onEvent)
        }

        var leaseLength: Duration { min(max(leaseDuration, .seconds(1)), .seconds(86_400)) }
    }
}
