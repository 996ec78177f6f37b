import AppMigrations
import AppMigrationsFleet
import AppMigrationsSQL
import PostgresConnection

/// The cost of 50 starts at once with nothing pending, beside 50 SELECTs at once of the same row by as many connections.
struct CrowdMeasurement {
    private static let size = 50
    private let connections: [AsyncPostgresConnection]
    private let stores: [PostgresFleetStore<AsyncPostgresConnection>]
    private let bound = 1.2

    init(_ info: String) async throws {
        var connections = [AsyncPostgresConnection]()
        for _ in 0..<Self.size { connections.append(try await AsyncPostgresConnection(info, cells: .binary)) }
        self.connections = connections
        stores = connections.map { connection in PostgresFleetStore { connection } }
    }

    func run() async throws {
        // The first start runs the migrations.
        for store in stores { try await Measurement.start(store) }
        var lowest = Double.infinity
        for round in 1...20 {
            if round > 5, lowest <= bound { break }
            var starts = [Double]()
            var selects = [Double]()
            for _ in 0..<20 {
                starts.append(try await atOnce { try await Measurement.start(stores[$0]) })
                selects.append(try await atOnce { try await Measurement.select(connections[$0]) })
            }
            print(
                "crowd-ratio: \(Int(median(starts))) µs for \(Self.size) starts, \(Int(median(selects))) µs for the SELECTs"
            )
            lowest = min(lowest, median(starts) / median(selects))
        }
        let rounded = (lowest * 100).rounded() / 100
        print("crowd-ratio: lowest ratio \(rounded) of at most \(bound)")
        if CommandLine.arguments.contains("--ci"), lowest > bound { throw Failure.slow(rounded) }
    }

    private func atOnce(_ body: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        try await measured {
            try await withThrowingTaskGroup { group in
                for index in 0..<Self.size { group.addTask { try await body(index) } }
                try await group.waitForAll()
            }
        }
    }
}
