import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

/// The cost of a migration with `in:`, beside a claim and a transaction that are written by hand.
///
/// By hand: the row is read, claimed by its revision, and the connection for the transaction is made. Its time-outs are set as
/// the library sets them, the work is done, and the row is updated by its revision in the same transaction.
struct TransactionMeasurement {
    private let info: String
    private let store: PostgresFleetStore<AsyncPostgresConnection>
    private let hand: AsyncPostgresConnection
    /// The library sends 18 statements where this sends seven: it makes sure that no transaction is open, that the connection is another
    /// one to the same database, and that the closure has left the transaction and its settings as they were.
    private let bound = 2.6

    private static let times = """
        SELECT set_config(name, CASE name WHEN 'transaction_timeout' THEN '0' WHEN 'tcp_keepalives_count' THEN '3' ELSE '60001' END, true)
        FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
        'transaction_timeout', 'tcp_keepalives_count', 'client_connection_check_interval')
        """

    init(_ info: String) async throws {
        self.info = info
        store = PostgresFleetStore { try await AsyncPostgresConnection(info, cells: .binary) }
        hand = try await AsyncPostgresConnection(info, cells: .binary)
    }

    func run() async throws {
        let work = "CREATE TABLE work_of_migrations(number BIGINT, way TEXT)"
        try await hand.query(work, [])
        let claims =
            "CREATE TABLE claims(name TEXT PRIMARY KEY, revision BIGINT NOT NULL, document TEXT NOT NULL)"
        try await hand.query(claims, [])
        try await hand.query("INSERT INTO claims VALUES ('by hand', 0, repeat('x', 600))", [])
        var times = [Double]()
        var floor = [Double]()
        for number in 1...150 {
            times.append(try await measured { try await withLibrary(number) })
            floor.append(try await measured { try await byHand(number) })
        }
        let ratio = (median(times) / median(floor) * 100).rounded() / 100
        print(
            "in-ratio: \(Int(median(times))) µs for a migration with in:, \(Int(median(floor))) µs by hand,"
                + " ratio \(ratio) of at most \(bound)"
        )
        if CommandLine.arguments.contains("--ci"), ratio > bound { throw Failure.slow(ratio) }
    }

    private func withLibrary(_ number: Int) async throws {
        let version = "1.\(number)"
        let manager = try await FleetMigrationManager(
            named: "in-ratio",
            currentVersion: version,
            firstRun: .everything,
            store: store
        )
        try await manager.whenMigrating(
            toVersion: version,
            in: try await AsyncPostgresConnection(info, cells: .binary)
        ) { db, _ in
            try await db.query("INSERT INTO work_of_migrations VALUES ($1, 'in:')", [SQLValue(Int64(number))])
        }
    }

    private func byHand(_ number: Int) async throws {
        let found = try await hand.query("SELECT revision, document FROM claims WHERE name = 'by hand'", [])
        guard case .integer(let revision)? = found.first?.first else { throw Failure.notOneRow }
        try await replace(revision, on: hand)
        let db = try await AsyncPostgresConnection(info, cells: .binary)
        try await db.query("BEGIN", [])
        try await db.query(Self.times, [])
        try await db.query("INSERT INTO work_of_migrations VALUES ($1, 'by hand')", [SQLValue(Int64(number))])
        try await replace(revision + 1, on: db)
        try await db.query("COMMIT", [])
        await db.close()
    }

    private func replace(_ revision: Int64, on db: AsyncPostgresConnection) async throws {
        let rows = try await db.query(
            """
            UPDATE claims SET revision = revision + 1, document = repeat('y', 600) WHERE name = 'by hand' AND revision = $1
            RETURNING revision
            """,
            [SQLValue(revision)]
        )
        if rows.count != 1 { throw Failure.notOneRow }
    }
}
