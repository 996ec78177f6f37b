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
