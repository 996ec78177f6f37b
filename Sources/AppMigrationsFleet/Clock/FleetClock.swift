internal import AppMigrations

/// The clocks of this host, and the pauses that are taken by them.
///
/// None of their readings leaves the host: a store has no time that two hosts compare.
package struct FleetClock: Sendable {
    /// Goes on while the machine sleeps: by it a holder counts how long its lease wasn't renewed.
    package var uptime: @Sendable () -> Duration = { Platform.uptime }
    /// Stands still while the machine sleeps: by it a waiting host counts how long it has seen one revision.
    package var awake: @Sendable () -> Duration = { Platform.awake }
    /// Seconds since 1970, for people to read.
    package var now: @Sendable () -> Int64 = { Platform.now }
    /// Throws `CancellationError` in a cancelled task.
    package var pause: @Sendable (Duration) async throws -> Void = sleep
    /// A pause that no work waits for: until the next renewal of a lease, the next look at a connection, or
    /// the next alarm.
    package var timer: @Sendable (Duration) async throws -> Void = sleep
    /// Calls a closure once a call has missed its deadline; gives what calls the alarm off.
    package var alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void = {
        Alarms.ofProcess.set(in: $0, $1)
    }

    package init() {}

    @Sendable private static func sleep(_ time: Duration) async throws {
        try await Task.sleep(nanoseconds: Platform.nanoseconds(max(time, .zero)))
    }
}

/// The alarms of many calls, by one timer, which an answered call leaves for those after it.
///
/// A timer for each would wake a second thread, and take a quarter of the time in which a database reads a
/// row.
package final class Alarms: Sendable {
    private typealias Bell = (number: Int, end: Duration, ring: @Sendable () -> Void)

    static let ofProcess = Alarms(by: FleetClock())

    /// With the time at which the timer goes off; one that goes off later ends by itself.
    private let pending = Guarded((bells: [Bell](), count: 0, timer: Duration?.none))
    private let clock: FleetClock

    package init(by clock: FleetClock) { self.clock = clock }

    package func set(in time: Duration, _ ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let end = clock.awake() + time
        let (number, isFirst) = pending.withLock { pending in
            pending.count += 1
            pending.bells.append((pending.count, end, ring))
            let isFirst = pending.timer.map { $0 > end } ?? true
            if isFirst { pending.timer = end }
            return (pending.count, isFirst)
        }
        if isFirst { Task.detached { try await self.ring(from: end) } }
        return { self.pending.withLock { $0.bells.removeAll { $0.number == number } } }
    }

    private func ring(from first: Duration) async throws {
        var timer: Duration? = first
        while let end = timer {
            try await clock.timer(end - clock.awake())
            let now = clock.awake()
            let due = pending.withLock { pending in
                let due = pending.bells.filter { $0.end <= now }
                pending.bells.removeAll { $0.end <= now }
                timer = pending.timer == end ? pending.bells.map(\.end).min() : nil
                if pending.timer == end { pending.timer = timer }
                return due
            }
            for bell in due { bell.ring() }
        }
    }
}
