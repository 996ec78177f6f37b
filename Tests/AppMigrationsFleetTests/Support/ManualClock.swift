import AppMigrations
import AppMigrationsFleet

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
    private struct Sleeper {
        let id: UInt64
        let end: Duration
        /// True for what waits for the deadline of a call or watches a connection, which no test counts.
        let isTimer: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Progress {
        var now = Duration.seconds(1_000)
        var sleepers: [Sleeper] = []
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var pauses = 0
    }

    private let progress = Guarded(Progress())

    var clock: FleetClock {
        var clock = FleetClock()
        clock.uptime = { self.now }
        clock.awake = { self.now }
        clock.now = { 1_795_000_000 }
        clock.pause = { try await self.pause($0) }
        clock.timer = { try await self.pause($0, isTimer: true) }
        clock.alarm = Alarms(by: clock).set
        return clock
    }

    var now: Duration { progress.withLock { $0.now } }

    /// How many tasks sleep.
    var asleep: Int { progress.withLock { $0.sleepers.count { !$0.isTimer } } }

    /// How many pauses were begun.
    var pauses: Int { progress.withLock { $0.pauses } }

    private func pause(_ duration: Duration, isTimer: Bool = false) async throws {
        let id = progress.withLock { progress in
            progress.nextID += 1
            return progress.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                let (wasCancelled, watchers) = progress.withLock { progress in
                    if !isTimer { progress.pauses += 1 }
                    let wasCancelled = progress.cancelled.remove(id) != nil
                    if !wasCancelled, duration > .zero {
                        let end = progress.now + duration
                        progress.sleepers.append(
                            Sleeper(id: id, end: end, isTimer: isTimer, continuation: continuation)
                        )
                    }
                    return (wasCancelled, Self.satisfied(&progress))
                }
                if wasCancelled {
                    continuation.resume(throwing: CancellationError())
                } else if duration <= .zero {
                    continuation.resume()
                }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper: Sleeper? = progress.withLock { progress in
                guard let index = progress.sleepers.firstIndex(where: { $0.id == id }) else {
                    progress.cancelled.insert(id)
                    return nil
                }
                return progress.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private static func satisfied(_ progress: inout Progress) -> [CheckedContinuation<Void, Never>] {
        let count = progress.sleepers.count { !$0.isTimer }
        let satisfied = progress.watchers.filter { $0.count <= count }
        progress.watchers.removeAll { $0.count <= count }
        return satisfied.map(\.continuation)
    }

    /// Waits until so many tasks sleep.
    func sleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = progress.withLock { progress in
                if progress.sleepers.count(where: { !$0.isTimer }) >= count { return true }
                progress.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Moves the clock, and wakes whoever has slept long enough.
    func advance(by duration: Duration) {
        let woken: [Sleeper] = progress.withLock { progress in
            progress.now += duration
            let now = progress.now
            let woken = progress.sleepers.filter { $0.end <= now }
            progress.sleepers.removeAll { $0.end <= now }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}
