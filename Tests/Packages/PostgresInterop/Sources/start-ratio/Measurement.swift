import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

struct Measurement {
    private let db: AsyncPostgresConnection
    private let store: SQLFleetStore<AsyncPostgresConnection>
    private let versions = (1...10).map { "1.\($0)" }

    init(_ info: String) async throws {
        db = try await AsyncPostgresConnection(info, cells: .binary)
        store = SQLFleetStore(db)
    }

    func run() async throws {
        // The first start runs the migrations.
        try await start()
        var starts = [Double]()
        var selects = [Double]()
        for _ in 0..<1_000 {
            starts.append(try await time(start))
            selects.append(try await time(select))
        }
        let ratio = median(zip(starts, selects).map { $0 / $1 })
        let rounded = (ratio * 100).rounded() / 100
        print(
            "start-ratio: \(Int(median(starts))) µs for a start with nothing pending, \(Int(median(selects))) µs for one SELECT,"
                + " ratio \(rounded) of at most 1.5"
        )
        if CommandLine.arguments.contains("--ci"), ratio > 1.5 { throw Failure.slow(rounded) }
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
            "SELECT revision, document FROM app_migration_state WHERE name = $1",
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
