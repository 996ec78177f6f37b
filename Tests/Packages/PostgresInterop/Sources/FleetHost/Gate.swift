import AppMigrationsSQL
import PostgresConnection

/// A place at which hosts wait where the fleet's script has closed it, on a server that no failover touches.
struct Gate {
    private let place: String
    private let db: AsyncPostgresConnection?

    init(_ place: String, _ settings: [String: String]) async throws {
        self.place = place
        db = if let gates = settings["gates"] { try await AsyncPostgresConnection(gates) } else { nil }
    }

    /// Whether it is closed, after a look that takes a moment.
    var isClosed: Bool {
        get async throws {
            guard let db else { return false }
            return try await !db.query(
                "SELECT pg_sleep(0.05)::text FROM gates WHERE place = $1 AND NOT is_open",
                [.text(place)]
            ).isEmpty
        }
    }

    /// Waits until it is open; `act` is done meanwhile, again and again.
    func pass(_ act: () async throws -> Void = {}) async throws {
        guard try await isClosed else { return }
        say("gate \(place)")
        repeat { try await act() } while try await isClosed
    }
}
