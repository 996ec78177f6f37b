internal import AppMigrations

/// The clocks of this host, and the pauses that are taken by them.
///
/// None of their readings leaves the host: a store has no time that two hosts compare.
package struct FleetClock: Sendable {
    /// Goes on while the machine sleeps: by it a holder counts how long its lease wasn't renewed.
    package let uptime: @Sendable () -> Duration
    /// Stands still while the machine sleeps: by it a waiting host counts how long it has seen one revision.
    package let awake: @Sendable () -> Duration
    /// Seconds since 1970, for people to read.
    package let now: @Sendable () -> Int64
    /// Throws `CancellationError` in a cancelled task.
    package let pause: @Sendable (Duration) async throws -> Void
    /// The pause after which a call has missed its deadline.
    package let alarm: @Sendable (Duration) async throws -> Void

    package init(
        uptime: @escaping @Sendable () -> Duration,
        awake: @escaping @Sendable () -> Duration,
        now: @escaping @Sendable () -> Int64,
        pause: @escaping @Sendable (Duration) async throws -> Void,
        alarm: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.uptime = uptime
        self.awake = awake
        self.now = now
        self.pause = pause
        self.alarm = alarm
    }

    /// The clocks of the system.
    package static var system: FleetClock {
        FleetClock(
            uptime: { Platform.uptime },
            awake: { Platform.awake },
            now: { Platform.now },
            pause: sleep,
            alarm: sleep
        )
    }

    @Sendable private static func sleep(_ time: Duration) async throws {
        try await Task.sleep(nanoseconds: Platform.nanoseconds(max(time, .zero)))
    }
}
