import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

struct Measurement {
    private let db: AsyncPostgresConnection
    private let store: PostgresFleetStore<AsyncPostgresConnection>
    private let versions = (1...10).map { "1.\($0)" }
    /// A tenth is the task that can be left behind at its deadline: without one a start takes 1.1 times as long as a SELECT.
    private let bound = 1.2

    init(_ info: String) async throws {
        db = try await AsyncPostgresConnection(info, cells: .binary)
        store = PostgresFleetStore { try await AsyncPostgresConnection(info, cells: .binary) }
    }

    func run() async throws {
        // The first start runs the migrations.
        try await start()
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
            if round.isMultiple(of: 2) { starts.append(try await time(start)) }
            selects.append(try await time(select))
            if !round.isMultiple(of: 2) { starts.append(try await time(start)) }
        }
        return (median(starts), median(selects))
    }

    private func start() async throws {
        let manager = try await FleetMigrationManager(
            named: "start-ratio",
            currentVersion: "1.10",
            firstRun: .everything,
            store: store
        )
        for version in versions { try await manager.whenMigrating(toVersion: version) {} }
    }

    private func select() async throws {
        let rows = try await db.query(
            "SELECT revision, document FROM \"app_migration_state\" WHERE name = $1",
            ["start-ratio"]
        )
        guard rows.count == 1 else { throw Failure.notOneRow }
    }

    /// After a pause, as at the start of a process: a server that was asked just now answers sooner than one that waits.
    private func time(_ body: () async throws -> Void) async throws -> Double {
        try await Task.sleep(for: .microseconds(500))
        let clock = ContinuousClock()
        let began = clock.now
        try await body()
        return (clock.now - began) / .microseconds(1)
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
