import AppMigrationsFleet
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

@main struct NotesService: Service {
    /// No other service in this database may use this name.
    static let name = "Notes"
    static let release = "1.4"
    static let logger = Logger(label: "NotesService")
    static let store = PostgresFleetStore {
        try await connect()
    }
    static let attemptLimit = 3
    static let probe = FleetProbe(
        named: name,
        currentVersion: release,
        store: store,
        options: .init(attemptLimit: attemptLimit)
    )

    /// The migrations, for the start, the plan and the probe.
    @Sendable static func declare(
        _ migrations: FleetMigrationManager
    ) async throws {
        try await migrations.whenMigrating(toVersion: "1.1") {
            try await runFiles(upTo: 1)
        }
        try await migrations.whenMigrating(
            toVersion: "1.2",
            minimumAppVersion: "1.1"
        ) { context in
            try await moveAvatarsToObjectStorage(context)
        }
        try await migrations.whenMigrating(
            toVersion: "1.3",
            in: try await connect()
        ) { db, _ in
            try await db.query(
                "UPDATE notes SET title = trim(title)"
            )
        }
        try await migrations.whenMigrating(toVersion: "1.4") {
            try await runFiles(upTo: 2)
        }
    }

    /// Runs the files of the folder Migrations that haven't run.
    static func runFiles(upTo last: Int64) async throws {
        try await connected {
            try await migrator().migrate($0, to: last)
        }
    }

    /// Connects, and closes the connection at the end.
    @discardableResult static func connected<Value>(
        _ body: (MigrationConnection) async throws -> Value
    ) async throws -> Value {
        let db = try await connect()
        do {
            let value = try await body(db)
            await db.close()
            return value
        } catch {
            await db.close()
            throw error
        }
    }

    static func migrator() throws
        -> SQLMigrator<MigrationConnection>
    {
        let resources = Bundle.module.resourcePath ?? ""
        return try SQLMigrator(
            SQLMigration.files(in: resources + "/Migrations")
        )
    }

    static func manager(
        isReadOnly: Bool = false
    ) async throws -> FleetMigrationManager {
        try await FleetMigrationManager(
            named: name,
            currentVersion: release,
            // Is the data older than this library? Replace this.
            firstRun: .everything,
            store: store,
            options: .init(
                attemptLimit: attemptLimit,
                isReadOnly: isReadOnly,
                onEvent: { log($0) }
            )
        )
    }

    static func log(_ event: MigrationEvent) {
        // migrate() logs what it tries again.
        if event.error?.isTransient == true { return }
        var line = "\(event.kind)"
        if let version = event.version { line += " \(version)" }
        if let fraction = event.fraction {
            line += " \(Int(fraction * 100)) %"
        }
        if let note = event.note { line += ": \(note)" }
        if let error = event.error { line += ": \(error)" }
        // After SIGTERM, the next host continues the migration.
        let code = event.error?.code
        logger.log(
            level: code == nil || code == .cancelled
                ? .info : .error,
            "\(line)"
        )
    }

    /// The reasons that were logged since this host was ready.
    static let logged = Mutex<Set<[String?]>>([])

    /// Logs an error, unless its reason was logged already.
    ///
    /// Texts of one reason differ, for example in a process number.
    static func logOnce(_ what: String, _ error: any Error) {
        let failure = error as? MigrationError
        let cause = failure?.underlyingError as? SQLError
        let reason = [
            what, failure?.code.description,
            failure?.version?.description,
            cause?.sqlState ?? cause?.code.description,
        ]
        if logged.withLock({ $0.insert(reason).inserted }) {
            logger.warning("\(what) \(error)")
        }
    }

    /// Repeats after transient errors.
    ///
    /// Logs each reason once.
    static func migrate() async throws {
        while true {
            do {
                let migrations = try await manager()
                if migrations.requiredAppVersion != nil { return }
                do {
                    try await declare(migrations)
                } catch let error as MigrationError
                    where error.code == .usedByNewerApp
                {
                    // A newer release migrates, or has to.
                    logger.warning("\(error)")
                    try await migrations.untilMigrated(declare)
                }
                return
            } catch let error as MigrationError
                where error.isTransient
            {
                logOnce("Trying again.", error)
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    static func mayGoOn() async throws -> Bool {
        do {
            let look = try await manager(isReadOnly: true)
            return look.requiredAppVersion == nil
        } catch let error as MigrationError
            where error.isTransient
        {
            return true
        }
    }

    /// Returns when a newer release has excluded this one.
    static func keepMigrated() async throws {
        do {
            try await migrate()
            while try await mayGoOn() {
                try await Task.sleep(for: .seconds(1))
            }
            logger.error("\(release) ends: a newer one excludes it")
        } catch {
            guard Task.isCancelled else { throw error }
        }
    }

    /// False, too, if the database doesn't answer.
    static func isReady() async -> Bool {
        do {
            let isReady = try await probe.isMigrated(declare)
            if isReady { logged.withLock { $0 = [] } }
            return isReady
        } catch {
            logOnce("Not ready.", error)
            return false
        }
    }

    /// SIGTERM cancels this.
    ///
    /// The service ends when it returns.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await Self.keepMigrated()
        }
    }

    static func serve() async throws {
        let router = Router()
        router.get("readyz") { _, _ -> HTTPResponse.Status in
            await isReady() ? .ok : .serviceUnavailable
        }
        addRoutes(to: router)
        let app = Application(
            router: router,
            configuration: .init(address: address),
            logger: logger
        )
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: app),
                    .init(
                        service: NotesService(),
                        successTerminationBehavior:
                            .gracefullyShutdownGroup
                    ),
                ],
                gracefulShutdownSignals: [.sigterm],
                logger: logger
            )
        )
        try await group.run()
    }

    /// Without --yes, only prints what would run afterwards.
    static func reset(
        to version: String,
        withBatches: Bool = false
    ) async throws {
        guard CommandLine.arguments.last == "--yes" else {
            let target = try AppVersion(parsing: version)
            let manager = try await manager(isReadOnly: true)
            for row in try await manager.plan(declare)
            where row.version > target {
                print("Runs after the reset: \(row.version)")
            }
            print("Nothing was changed. To reset, add --yes.")
            return
        }
        let manager = try await manager()
        if withBatches {
            try await connected {
                try await manager.reset(to: version, in: $0)
            }
        } else {
            try await manager.reset(to: version)
        }
        print("Reset to \(version). Restart one host.")
    }

    /// Serves, or only does what the argument says.
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case nil:
                try await serve()
            case "plan":
                let manager = try await manager(isReadOnly: true)
                for row in try await manager.plan(declare) {
                    print(row)
                    if let error = row.error { throw error }
                }
            case "status":
                // Waits until it knows whether a host is alive.
                print(try await probe.observedStatus())
            case "reset" where arguments.count > 1:
                // Doesn't repeat batches that have ended.
                try await reset(to: arguments[2])
            case "reset-with-batches" where arguments.count > 1:
                // Doubles their work if they aren't repeatable.
                try await reset(to: arguments[2], withBatches: true)
            case "retry":
                // After attemptLimitReached.
                try await manager().resetAttempts()
                print("Deaths are forgotten. Restart one host.")
            default:
                print("plan, status, retry, or reset 1.3 [--yes]")
                print("reset-with-batches 1.3: read the guide")
                exit(64)
            }
        } catch {
            logger.critical("\(error)")
            exit(1)
        }
    }
}
