import AppMigrations

/// Lines that closures on any thread leave, in their order.
package final class Log: Sendable {
    private let entries = Guarded<[String]>([])

    package init() {}

    package var lines: [String] { entries.withLock { $0 } }

    package func add(_ line: String) { entries.withLock { $0.append(line) } }
}
