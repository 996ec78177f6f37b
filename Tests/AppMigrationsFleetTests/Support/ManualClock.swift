import AppMigrations
import AppMigrationsFleet

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
    private enum Kind {
        /// The pause of a call, which does nothing else.
        case pause
        /// The pause of a renewal or a watch, next to a call that goes on.
        case timer
        /// The deadline of a call of the store or of a connection.
        case alarm
    }

    private struct Waiter: Sendable {
        let number: Int
        let end: Duration
        let kind: Kind
        let wake: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct Progress {
        var now = Duration.seconds(1_000)
        var waiters: [Waiter] = []
        /// The waiters whose task was cancelled before they were added.
        var cancelled: Set<Int> = []
        var count = 0
        var pauses = 0

        func waiters(of kind: Kind) -> Int { waiters.count { $0.kind == kind } }
    }

    private let progress = Guarded(Progress())

    var clock: FleetClock {
        var clock = FleetClock()
        clock.uptime = { self.now }
        clock.awake = { self.now }
        clock.now = { 1_795_000_000 }
        clock.pause = { try await self.wait($0, as: .pause) }
        clock.timer = { try await self.wait($0, as: .timer) }
        clock.alarm = { time, ring in
            let number = self.makeNumber()
            self.add(number, as: .alarm, for: time) { _ in ring() }
            return { _ = self.remove(number) }
        }
        return clock
    }

    var now: Duration { progress.withLock { $0.now } }

    /// How many calls pause.
    var pausing: Int { progress.withLock { $0.waiters(of: .pause) } }

    /// How many renewals and watches wait for their next turn.
    var timers: Int { progress.withLock { $0.waiters(of: .timer) } }

    /// How many calls of the store or of a connection have a deadline ahead of them.
    var alarms: Int { progress.withLock { $0.waiters(of: .alarm) } }

    /// How many pauses were begun.
    var pauses: Int { progress.withLock { $0.pauses } }

    private func makeNumber() -> Int {
        progress.withLock { progress in
            progress.count += 1
            return progress.count
        }
    }

    private func add(
        _ number: Int,
        as kind: Kind,
        for duration: Duration,
        wake: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let result: Result<Void, any Error>? = progress.withLock { progress in
            if kind == .pause { progress.pauses += 1 }
            if progress.cancelled.remove(number) != nil { return .failure(CancellationError()) }
            if duration <= .zero { return .success(()) }
            let end = progress.now + duration
            progress.waiters.append(Waiter(number: number, end: end, kind: kind, wake: wake))
            return nil
        }
        if let result { wake(result) }
    }

    private func remove(_ number: Int) -> Waiter? {
        progress.withLock { progress in
            progress.waiters.firstIndex { $0.number == number }.map { progress.waiters.remove(at: $0) }
        }
    }

    private func wait(_ duration: Duration, as kind: Kind) async throws {
        let number = makeNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                add(number, as: kind, for: duration) { continuation.resume(with: $0) }
            }
        } onCancel: {
            if let waiter = remove(number) {
                waiter.wake(.failure(CancellationError()))
            } else {
                progress.withLock { _ = $0.cancelled.insert(number) }
            }
        }
    }
}

extension ManualClock {
    /// Moves the clock, and wakes everybody whose time is over.
    func advance(by duration: Duration) {
        let woken: [Waiter] = progress.withLock { progress in
            progress.now += duration
            let now = progress.now
            let woken = progress.waiters.filter { $0.end <= now }
            progress.waiters.removeAll { $0.end <= now }
            return woken
        }
        for waiter in woken { waiter.wake(.success(())) }
    }

    /// Moves the clock while the process stands still: nobody wakes before the clock moves again.
    func standStill(for duration: Duration) { progress.withLock { $0.now += duration } }

    /// Moves the clock to the end of the next pause, timer or deadline, and not further than to a time.
    private func advance(noFurtherThan time: Duration) {
        let (now, next) = progress.withLock { ($0.now, $0.waiters.map(\.end).min()) }
        advance(by: max(.zero, min(next ?? time, time) - now))
    }

    /// Lets time pass until something holds, or for so long at most.
    ///
    /// The clock moves only while everybody waits who is to wait. So a task that gets no processor for a
    /// while finds the same time as one that gets it at once.
    ///
    /// - Parameters:
    ///   - duration: The longest time. Whoever woke at its end has done what it had to do when this returns.
    ///   - waiting: How many calls of managers wait, each in a pause or in a call of the store that hangs.
    ///   - timers: How many renewals and watches wait besides. A renewal that hangs in the store counts as one.
    ///   - isOver: Ends the passing of time.
    ///   - hanging: How many calls of the store hang now, if any do in this test.
    /// - Throws: `CancellationError` if the test is cancelled while it waits for the others.
    func pass(
        _ duration: Duration = .seconds(500),
        waiting: Int = 1,
        timers: Int = 0,
        until isOver: () -> Bool = { false },
        hanging: () -> Int = { 0 }
    ) async throws {
        let end = now + duration
        while true {
            try await waitUntil {
                if isOver() { return true }
                // A call hangs as long as its deadline is ahead: after that somebody is about to go on.
                let calls = pausing + min(hanging(), alarms)
                return calls >= waiting && calls + self.timers >= waiting + timers
            }
            if isOver() || now >= end { return }
            advance(noFurtherThan: end)
        }
    }
}

/// Waits until something holds.
///
/// A wait in vain ends when the test is cancelled, as by the time limit of its suite.
func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
