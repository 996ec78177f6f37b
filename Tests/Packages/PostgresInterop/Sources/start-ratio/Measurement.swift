import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

struct Measurement {
    private let db: AsyncPostgresConnection
    private let store: PostgresFleetStore<AsyncPostgresConnection>
    /// A tenth is the task that can be left behind at its deadline: without one a start takes 1.1 times as long as a SELECT.
    private let bound = 1.2

    init(_ info: String) async throws {
        db = try await AsyncPostgresConnection(info, cells: .binary)
        store = PostgresFleetStore { try await AsyncPostgresConnection(info, cells: .binary) }
    }

    func run() async throws {
        // The first start runs the migrations.
        try await Self.start(store)
        var lowest = Double.infinity
        // Other work on the machine only adds to a time: where it was not quiet, the measuring goes on.
        for round in 1...20 {
            if round > 5, lowest <= bound { break }
            let (start, select) = try await series()
            print(
                "start-ratio: \(Int(start)) µs for a start with nothing pending, \(Int(select)) µs for one SELECT"
            )
            lowest = min(lowest, start / select)
        }
        let rounded = (lowest * 100).rounded() / 100
        print("start-ratio: lowest ratio \(rounded) of at most \(bound)")
        if CommandLine.arguments.contains("--ci"), lowest > bound { throw Failure.slow(rounded) }
    }

    /// The medians of starts and SELECTs in turn, each as often after the other as before it.
    private func series() async throws -> (start: Double, select: Double) {
        var starts = [Double]()
        var selects = [Double]()
        for round in 0..<400 {
            if round.isMultiple(of: 2) { starts.append(try await time { try await Self.start(store) }) }
            selects.append(try await time { try await Self.select(db) })
            if !round.isMultiple(of: 2) { starts.append(try await time { try await Self.start(store) }) }
        }
        return (median(starts), median(selects))
    }

    static func start(_ store: PostgresFleetStore<AsyncPostgresConnection>) async throws {
        let manager = try await FleetMigrationManager(
            named: "start-ratio",
            currentVersion: "1.10",
            firstRun: .everything,
            store: store
        )
        for number in 1...10 { try await manager.whenMigrating(toVersion: "1.\(number)") {} }
    }

    static func select(_ db: AsyncPostgresConnection) async throws {
        let rows = try await db.query(
            """
            SELECT revision, document, pg_is_in_recovery()::int \
            FROM (VALUES ($1::text)) AS wanted(name) LEFT JOIN "app_migration_state" AS held USING (name)
            """,
            ["start-ratio"]
        )
        guard rows.count == 1 else { throw Failure.notOneRow }
    }

    /// After a pause, as at the start of a process: a server that was asked just now answers sooner than one that waits.
    private func time(_ body: () async throws -> Void) async throws -> Double {
        try await Task.sleep(for: .microseconds(500))
        return try await measured(body)
    }
}

/// The microseconds that `body` takes.
func measured(_ body: () async throws -> Void) async throws -> Double {
    let clock = ContinuousClock()
    let began = clock.now
    try await body()
    return (clock.now - began) / .microseconds(1)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
