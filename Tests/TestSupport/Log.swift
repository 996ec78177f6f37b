import AppMigrations

/// Lines that closures on any thread leave, in their order.
package final class Log: Sendable {
    private let entries = Guarded<[String]>([])

    package init() {}

    package var lines: [String] { entries.withLock { $0 } }

    package func add(_ line: String) { entries.withLock { $0.append(line) } }
}

extension Duration {
    /// How long a test waits for a lock that is not given back before: the real clock, since time-outs are in its time.
    package static var inVain: Duration { .milliseconds(5) }
}
