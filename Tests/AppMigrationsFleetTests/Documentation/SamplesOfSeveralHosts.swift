import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL

// The samples of the landing page and of "Several hosts", as they stand there.

func start<Connection: AsyncSQLConnection & Sendable>(
    storeConnection: Connection,
    connection: Connection
) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: SQLFleetStore(storeConnection)
    )
    try await migrations.whenMigrating(toVersion: "1.2") {
        try await moveAvatarsToObjectStorage($0)
    }
    try await migrations.whenMigrating(
        toVersion: "1.3",
        in: connection
    ) { db in
        try await db.query("UPDATE notes SET title = trim(title)")
    }
}

func migrate<Connection: AsyncSQLConnection & Sendable>(
    storeConnection: Connection,
    connection: Connection,
    log: @escaping @Sendable (String) -> Void
) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: SQLFleetStore(storeConnection),
        options: .init(attemptLimit: 3) { event in
            log("\(event.kind) \(event.note ?? "")")
        }
    )
    try await migrations.whenMigrating(toVersion: "1.2") {
        try await moveAvatarsToObjectStorage($0)
    }
    try await migrations.whenMigrating(
        toVersion: "1.3",
        in: connection
    ) { db in
        try await db.query("UPDATE notes SET title = trim(title)")
    }
}

func startService(
    _ store: any FleetStore,
    pause: () async throws -> Void
) async throws {
    for _ in 1...5 {
        do {
            return try await job(store)
        } catch let error as MigrationError where mayPass(error) {
            try await pause()
        }
    }
    try await job(store)
}

func mayPass(_ error: MigrationError) -> Bool {
    switch error.code {
    case .stateUnreadable, .stateNotSaved, .leaseLost, .lockTimeout:
        true
    case .overtaken: true
    case .migrationFailed: error.underlyingError is ConnectionLost
    default: false
    }
}

func migrateSchema<Connection: AsyncSQLConnection>(
    _ migrations: FleetMigrationManager,
    _ migrator: SQLMigrator<Connection>,
    _ connection: Connection
) async throws {
    try await migrations.whenMigrating(
        toVersion: "1.2",
        oldestReader: "1.1"
    ) {
        try await migrator.migrate(connection, to: 1)
    }
    try await migrations.whenMigrating(toVersion: "1.3") {
        try await migrator.migrate(connection)
    }
}

func startTogether<Connection: AsyncSQLConnection & Sendable>(
    _ connection: Connection,
    _ database: Connection
) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: SQLFleetStore(connection)
    )
    try await migrations.whenMigrating(toVersion: "1.3", in: database) { db in
        try await db.query("UPDATE notes SET title = trim(title)")
    }
}

func start(_ store: any FleetStore) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: .everything,
        store: store
    )
    try await migrations.whenMigrating(toVersion: "1.2") { try await moveAvatarsToObjectStorage() }
}

func manager(
    _ store: any FleetStore,
    hasNotes: () async throws -> Bool
) async throws -> FleetMigrationManager {
    try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        firstRun: await hasNotes()
            ? .existingData(at: "1.1") : .everything,
        store: store
    )
}

func moveAvatarsToObjectStorage(
    _ context: FleetMigrationContext
) async throws {
    var last = try context.checkpoint(as: Int.self) ?? 0
    while let batch = try await avatars(after: last) {
        try Task.checkCancellation()
        try await upload(batch, refusingBelow: context.fence)
        last = batch.last
        try await context.saveCheckpoint(
            last,
            progress: batch.progress
        )
    }
}

func moveAvatarsToObjectStorage() async throws {
    try await upload(Batch(last: 0, progress: 1), refusingBelow: 0)
}

func mustDrain(
    _ migrations: FleetMigrationManager
) async throws -> Bool {
    try await migrations.status.requiredVersion != nil
}

func declare(_ migrations: FleetMigrationManager) async throws {
    try await migrations.whenMigrating(
        toVersion: "1.2",
        oldestReader: "1.1"
    ) { context in
        try await moveAvatarsToObjectStorage(context)
    }
}

func job(_ store: any FleetStore) async throws {
    try await declare(
        FleetMigrationManager(
            named: "Data",
            currentVersion: "1.3",
            firstRun: .everything,
            store: store,
            options: .init(attemptLimit: 3)
        )
    )
}

func pod(_ store: any FleetStore) async throws {
    let migrations = try await FleetMigrationManager(
        named: "Data",
        currentVersion: "1.3",
        store: store,
        options: .init(attemptLimit: 3, isReadOnly: true)
    )
    try await migrations.untilMigrated(declare)
    if let release = try await migrations.status.requiredVersion {
        throw TooOld(required: release)
    }
}

struct TooOld: Error {
    let required: AppVersion
}

func readyz(
    _ migrations: FleetMigrationManager
) async throws -> (isReady: Bool, text: String) {
    let status = try await migrations.status
    if let release = status.requiredVersion {
        return (false, "This needs release \(release).")
    }
    if try await migrations.isMigrated(declare) {
        return (true, "The data is migrated.")
    }
    let failure = status.interruption?.failure
    return (false, failure ?? "The data isn't migrated yet.")
}

/// What the client of the samples throws.
typealias ConnectionLost = TestStore.Failure

private struct Batch {
    let last: Int
    let progress: Double
}

private func avatars(after last: Int) async throws -> Batch? {
    last < 3 ? Batch(last: last + 1, progress: Double(last + 1) / 3) : nil
}

private func upload(_ batch: Batch, refusingBelow fence: Int) async throws {
    let uploads = Uploads.current
    uploads.log.add("\(batch.last) fence \(fence)")
    if uploads.failing == batch.last { throw TestStore.Failure() }
}

/// What was uploaded for the test that runs a sample; one batch can fail.
struct Uploads: Sendable {
    @TaskLocal static var current = Uploads()

    let log = Log()
    var failing: Int?

    func during(_ body: () async throws -> Void) async rethrows {
        try await Self.$current.withValue(self) { try await body() }
    }
}
