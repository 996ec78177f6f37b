import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

/// One start of a release: 1.1 and 1.3 run at least once, 1.2, 1.4 and each batch of 1.3-1 exactly once, and 2.0 shuts older
/// releases out.
struct Host {
    let connection: String
    let release: String
    let settings: [String: String]

    func start() async throws {
        let manager = try await FleetMigrationManager(
            named: "Data",
            currentVersion: release,
            firstRun: .everything,
            store: store,
            options: options
        )
        if let required = manager.requiredAppVersion { return say("required \(required)") }
        try await declare(manager)
        if settings["serves"] != nil { try await serve() }
        say("done")
    }

    private func connect() async throws -> AsyncPostgresConnection {
        try await AsyncPostgresConnection(connection, cells: settings["cells"] == "binary" ? .binary : .text)
    }

    private var store: PostgresFleetStore<AsyncPostgresConnection> { PostgresFleetStore(connect: connect) }

    private var options: FleetMigrationManager.Options {
        FleetMigrationManager.Options(
            leaseDuration: .seconds(Int(settings["lease"] ?? "30") ?? 30),
            onEvent: { event in
                guard event.kind == .waiting else { return }
                say("waiting \(event.version.map { "\($0)" } ?? "") \(event.note ?? "")")
            }
        )
    }

    private func declare(_ manager: FleetMigrationManager) async throws {
        for version in ["1.1", "1.2", "1.3", "1.3-1", "1.4"] {
            if version == "1.3-1" {
                try await manager.whenMigrating(toVersion: version, in: try await connect()) { db, batch, _ in
                    try await countRows(db, after: try batch.cursor(as: Int64.self) ?? 0)
                }
            } else if version == "1.1" || version == "1.3" {
                try await manager.whenMigrating(toVersion: version) { try await work($0) }
            } else {
                try await manager.whenMigrating(toVersion: version, in: try await connect()) { db, _ in
                    try await count(version, db)
                }
            }
        }
        if release == "2.0" {
            try await manager.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") { try await work($0) }
        }
    }

    /// Answers the probe of one that serves, until the last gate is open; begins anew where the data isn't migrated any more.
    private func serve() async throws {
        let probe = FleetProbe(
            named: "Data",
            currentVersion: release,
            store: store,
            options: options
        )
        let gate = try await Gate("end", settings)
        repeat {
            let asked = now()
            guard try await probe.isMigrated(declare) else { throw NotReady() }
            say("ready \(asked) \(now())")
        } while try await gate.isClosed
    }

    /// Steps from checkpoint to checkpoint, each taken down with the fence, on connections as a pool lends them.
    private func work(_ context: FleetMigrationContext) async throws {
        try await note("begin", context)
        say("begin \(context.version) \(context.fence)")
        try await Gate("\(context.version) begin", settings).pass()
        for step in (try context.checkpoint(as: Int.self) ?? 0)..<4 {
            try await log.query("SELECT pg_sleep(0.1)::text")
            try await log.query(
                "INSERT INTO steps(version, step) VALUES ($1, $2)",
                [.text("\(context.version)"), .integer(Int64(step + 1))]
            )
            try await context.saveCheckpoint(step + 1)
            say("step \(step + 1)")
            try await Gate("\(context.version) step \(step + 1)", settings).pass()
        }
        try await note("end", context)
        say("end \(context.version) \(context.fence)")
    }

    private var log: AsyncPostgresConnection {
        get async throws { try await AsyncPostgresConnection(settings["log"] ?? connection) }
    }

    private func note(_ what: String, _ context: FleetMigrationContext) async throws {
        try await log.query(
            "INSERT INTO log(release, version, fence, what) VALUES ($1, $2, $3::bigint, $4)",
            [.text(release), .text("\(context.version)"), .integer(Int64(context.fence)), .text(what)]
        )
    }

    /// Counts in ten rows behind the cursor, which others write too.
    private func countRows(_ db: AsyncPostgresConnection, after cursor: Int64) async throws
        -> MigrationBatch.Outcome
    {
        say("begin 1.3-1 after \(cursor)")
        try await db.query("SELECT pg_sleep(0.02)::text")
        let last = cursor + 10
        try await db.query(
            "UPDATE pages SET runs = runs + 1 WHERE id > $1 AND id <= $2",
            [.integer(cursor), .integer(last)]
        )
        try await Gate("end 1.3-1 at \(last)", settings).pass { try await db.query("SELECT") }
        say("end 1.3-1 at \(last)")
        return last == 100 ? .done : .continue(at: last, progress: Double(last) / 100)
    }

    private func count(_ version: String, _ db: AsyncPostgresConnection) async throws {
        say("begin \(version)")
        try await db.query("SELECT pg_sleep(0.1)::text")
        if settings["renewed"] != nil { try await untilRenewed() }
        try await db.query("UPDATE counter SET runs = runs + 1 WHERE version = $1", [.text(version)])
        try await Gate("end \(version)", settings).pass { try await db.query("SELECT") }
        say("end \(version)")
    }

    /// Waits until the lease was renewed while the transaction was open.
    private func untilRenewed() async throws {
        let log = try await log
        let query = "SELECT revision::text FROM app_migration_state"
        let began = try await log.query(query)
        while try await log.query(query) == began { try await log.query("SELECT pg_sleep(0.02)::text") }
    }
}

/// The end of a host that answered its probe with no.
struct NotReady: Error {}
