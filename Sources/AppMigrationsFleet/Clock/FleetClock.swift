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
    /// The pause after which a call has missed its deadline.
    package var alarm: @Sendable (Duration) async throws -> Void = sleep

    /// The clocks of the system.
    package init() {}

    @Sendable private static func sleep(_ time: Duration) async throws {
        try await Task.sleep(nanoseconds: Platform.nanoseconds(max(time, .zero)))
    }
}
