import AppMigrationsSQL
import Glibc
import PostgresConnection

/// One line, in one call, so that no buffer keeps it when the process is killed.
func say(_ line: String) {
    let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

/// The time of the server's clock, which is that of the same machine, in seconds since 1970.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A place at which hosts wait where the fleet's script has closed it, on a server that no failover touches.
struct Gate {
    private let place: String
    private let db: AsyncPostgresConnection?

    init(_ place: String, _ settings: [String: String]) async throws {
        self.place = place
        db = if let gates = settings["gates"] { try await AsyncPostgresConnection(gates) } else { nil }
    }

    /// True if it is closed, after a look that takes a moment.
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
