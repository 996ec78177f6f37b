import AppMigrationsSystem

/// The process ID, and the clocks for waits, closures and states.
extension Platform {
    package static var process: Int32 { getpid() }

    /// The time in seconds since 1970.
    ///
    /// It is limited to the years that a state can store, in case the clock is wrong.
    package static var now: Int64 { min(max(Int64(time(nil)), 0), 253_402_300_799) }

    /// The time of `ContinuousClock`, a clock that goes on while the machine sleeps.
    ///
    /// `ContinuousClock` itself isn't used, because its symbols would have to be looked up when a program is
    /// loaded.
    package static var uptime: Duration {
        #if os(Linux) || os(Android)
        reading(CLOCK_BOOTTIME)
        #else
        // Unlike CLOCK_MONOTONIC, this clock isn't affected by adjustments of the time (clock_gettime(3)).
        reading(CLOCK_MONOTONIC_RAW)
        #endif
    }

    /// The time of a clock that stops while the machine sleeps and that nobody can set.
    ///
    /// With this clock, a wait doesn't end because the lid of a laptop was closed. Such a clock is
    /// `CLOCK_MONOTONIC` on Linux (clock_gettime(2)) and `CLOCK_UPTIME_RAW` on Apple's systems
    /// (clock_gettime(3)).
    package static var awake: Duration {
        #if canImport(Darwin)
        reading(CLOCK_UPTIME_RAW)
        #else
        reading(CLOCK_MONOTONIC)
        #endif
    }

    private static func reading(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The nanoseconds of a duration, which must be short and not negative.
    package static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    @inline(never)
    package static func pause(_ duration: Duration) {
        let (seconds, nanoseconds) = nanoseconds(duration).quotientAndRemainder(dividingBy: 1_000_000_000)
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds))
        // A signal may end the pause early. That does no harm, because the caller reads the clock again.
        nanosleep(&rest, nil)
    }
    /// Suspends the task.
    ///
    /// If the task is cancelled, the pause ends early. The caller then finds out that it is cancelled.
    nonisolated(nonsending) static func suspend(_ duration: Duration) async {
        do { try await Task.sleep(nanoseconds: nanoseconds(duration)) } catch {}
    }
}
