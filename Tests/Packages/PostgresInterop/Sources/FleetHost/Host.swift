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
        let cells: AsyncPostgresConnection.Cells = settings["cells"] == "binary" ? .binary : .text
        let manager = try await FleetMigrationManager(
            named: "Data",
            currentVersion: release,
            firstRun: .everything,
            store: PostgresFleetStore { try await AsyncPostgresConnection(connection, cells: cells) },
            options: FleetMigrationManager.Options(
                leaseDuration: .seconds(Int(settings["lease"] ?? "30") ?? 30),
                onEvent: { if $0.kind == .waiting { say("waiting \($0.note ?? "")") } }
            )
        )
        if let required = manager.requiredAppVersion { return say("required \(required)") }
        for version in ["1.1", "1.2", "1.3", "1.3-1", "1.4"] {
            if version == "1.3-1" {
                try await manager.whenMigrating(
                    toVersion: version,
                    in: try await AsyncPostgresConnection(connection, cells: cells)
                ) { db, batch, _ in try await countRows(db, after: try batch.cursor(as: Int64.self) ?? 0) }
            } else if version == "1.1" || version == "1.3" {
                try await manager.whenMigrating(toVersion: version) { try await work($0) }
            } else {
                try await manager.whenMigrating(
                    toVersion: version,
                    in: try await AsyncPostgresConnection(connection, cells: cells)
                ) { db in try await count(version, db) }
            }
        }
        if release == "2.0" {
            try await manager.whenMigrating(toVersion: "2.0", minimumAppVersion: "2.0") { try await work($0) }
        }
        say("done")
    }

    /// Steps from checkpoint to checkpoint, each taken down with the fence.
    private func work(_ context: FleetMigrationContext) async throws {
        let log = try await AsyncPostgresConnection(settings["log"] ?? connection)
        try await note("begin", context, log)
        say("begin \(context.version) \(context.fence)")
        for step in (try context.checkpoint(as: Int.self) ?? 0)..<4 {
            try await log.query("SELECT pg_sleep(0.1)::text")
            try await context.saveCheckpoint(step + 1)
            say("step \(step + 1)")
        }
        try await note("end", context, log)
        say("end \(context.version) \(context.fence)")
    }

    private func note(
        _ what: String,
        _ context: FleetMigrationContext,
        _ log: AsyncPostgresConnection
    ) async throws {
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
        say("end 1.3-1 at \(last)")
        return last == 100 ? .done : .continue(at: last, progress: Double(last) / 100)
    }

    private func count(_ version: String, _ db: AsyncPostgresConnection) async throws {
        say("begin \(version)")
        try await db.query("SELECT pg_sleep(0.1)::text")
        try await db.query("UPDATE counter SET runs = runs + 1 WHERE version = $1", [.text(version)])
        say("end \(version)")
    }
}
