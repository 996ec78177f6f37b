internal import AppMigrations

/// The clocks and the sleeps of this host.
///
/// Tests replace them.
///
/// Hosts never compare their clocks, so no decision depends on a time in the store. `uptime` and `awake`
/// never leave this host. `now` is saved in attempts and in the history, but only people read it.
package struct FleetClock: Sendable {
    /// A monotonic clock that keeps running while the machine sleeps.
    ///
    /// The holder of a lease measures with it how long ago it renewed the lease.
    package var uptime: @Sendable () -> Duration = { Platform.uptime }
    /// A monotonic clock that stops while the machine sleeps.
    ///
    /// A waiting host measures with it how long a revision has stayed the same.
    package var awake: @Sendable () -> Duration = { Platform.awake }
    /// Seconds since 1970, for people to read.
    package var now: @Sendable () -> Int64 = { Platform.now }
    /// A sleep that delays the caller.
    ///
    /// It throws `CancellationError` in a cancelled task.
    package var pause: @Sendable (Duration) async throws -> Void = sleep
    /// A sleep in a background task: until the next renewal of a lease, the next check of a connection, or
    /// the next alarm.
    ///
    /// No call waits for it, and so tests count it separately from `pause`.
    package var timer: @Sendable (Duration) async throws -> Void = sleep
    /// Runs the closure after the given time, unless the returned closure is called first.
    package var alarm: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void = {
        Alarms.ofProcess.set(after: $0, $1)
    }

    package init() {}

    @Sendable private static func sleep(_ time: Duration) async throws {
        try await Task.sleep(nanoseconds: Platform.nanoseconds(max(time, .zero)))
    }
}

/// Alarms that share one timer task.
///
/// Cancelling an alarm leaves the timer running, so that later alarms can use it.
///
/// A timer task for each call would wake a second thread each time. That takes a quarter of the time in which
/// a database reads a row.
package final class Alarms: Sendable {
    private struct Alarm {
        let number: Int
        /// The time of `awake` at which the action is due.
        let end: Duration
        let action: @Sendable () -> Void
    }

    static let ofProcess = Alarms(by: FleetClock())

    /// `wakeTime` is when the current timer task wakes up, or `nil` if there is none.
    ///
    /// A timer task that was replaced by an earlier one notices that when it wakes up, and ends.
    private let pending = Guarded((alarms: [Alarm](), count: 0, wakeTime: Duration?.none))
    private let clock: FleetClock

    package init(by clock: FleetClock) { self.clock = clock }

    /// Runs the action after the given time, and returns a closure that cancels this.
    package func set(
        after time: Duration,
        _ action: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let end = clock.awake() + time
        let (number, needsTimer) = pending.withLock { pending in
            pending.count += 1
            pending.alarms.append(Alarm(number: pending.count, end: end, action: action))
            let needsTimer = pending.wakeTime.map { $0 > end } ?? true
            if needsTimer { pending.wakeTime = end }
            return (pending.count, needsTimer)
        }
        if needsTimer { Task.detached { try await self.runTimer(wakingAt: end) } }
        return { self.pending.withLock { $0.alarms.removeAll { $0.number == number } } }
    }

    private func runTimer(wakingAt first: Duration) async throws {
        var next: Duration? = first
        while let end = next {
            try await clock.timer(end - clock.awake())
            let now = clock.awake()
            let due = pending.withLock { pending in
                let due = pending.alarms.filter { $0.end <= now }
                pending.alarms.removeAll { $0.end <= now }
                let isCurrent = pending.wakeTime == end
                next = isCurrent ? pending.alarms.map(\.end).min() : nil
                if isCurrent { pending.wakeTime = next }
                return due
            }
            for alarm in due { alarm.action() }
        }
    }
}
