internal import AppMigrations

/// Alarms that share one timer task.
///
/// Cancelling an alarm leaves the timer running, so that later alarms can use it.
///
/// A timer task for each call would wake a second thread each time. That takes a quarter of the time that a
/// database needs to read a row.
package final class Alarms: Sendable {
    private struct Alarm {
        let number: Int
        /// The time of `awake` at which the action is due.
        let end: Duration
        let action: @Sendable () -> Void
    }

    static let ofProcess = Alarms(by: FleetClock())

    /// The alarms that are set; how many were ever set; and when the current timer task wakes up, or `nil` if
    /// there is none.
    ///
    /// One timer task sleeps until the first alarm. If an earlier alarm is set, a new task is started for it
    /// and becomes the current one. The old task sleeps on. When it wakes up, it finds that it isn't the
    /// current one any more, and ends.
    private let pending = Guarded((alarms: [Alarm](), count: 0, wakeTime: Duration?.none))
    private let clock: FleetClock

    package init(by clock: FleetClock) { self.clock = clock }

    /// Runs the action after the given time, and returns a closure that cancels the alarm.
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
