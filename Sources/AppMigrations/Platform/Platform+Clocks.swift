import AppMigrationsSystem

/// The number of the process, and the times of waits, closures and states.
extension Platform {
    package static var process: Int32 { getpid() }

    /// Seconds since 1970, within the years that a state can hold, even if the clock is wrong.
    package static var now: Int64 { min(max(Int64(time(nil)), 0), 253_402_300_799) }

    /// The time of `ContinuousClock`, without its types, which would have to be looked up when a program is
    /// loaded.
    package static var uptime: Duration {
        #if os(Linux) || os(Android)
        reading(CLOCK_BOOTTIME)
        #else
        // clock_gettime(3): unlike CLOCK_MONOTONIC, it isn't affected by adjustments of the time.
        reading(CLOCK_MONOTONIC_RAW)
        #endif
    }

    /// Time that passes only while the machine is awake.
    ///
    /// A wait doesn't end because a lid was closed.
    ///
    /// Of the clocks that nobody can set, `CLOCK_MONOTONIC` stops during sleep on Linux (clock_gettime(2)),
    /// and `CLOCK_UPTIME_RAW` on Apple's systems (clock_gettime(3)).
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

    /// The nanoseconds of a pause, which is short and not negative.
    package static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    @inline(never)
    package static func pause(_ duration: Duration) {
        let (seconds, nanoseconds) = nanoseconds(duration).quotientAndRemainder(dividingBy: 1_000_000_000)
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds))
        // A signal may end the pause early. The caller asks the clock anyway.
        nanosleep(&rest, nil)
    }
}
