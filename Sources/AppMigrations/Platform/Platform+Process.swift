#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// What a process knows of itself and of the time.
extension Platform {
    package static var process: Int32 { getpid() }

    /// Seconds since 1970, within the years that a state can hold, whatever the clock says.
    package static var now: Int64 { min(max(Int64(time(nil)), 0), 253_402_300_799) }

    /// What `ContinuousClock` tells, without its types, which are looked up when a program is loaded.
    package static var uptime: Duration {
        var time = timespec()
        #if os(Linux) || os(Android)
        clock_gettime(CLOCK_BOOTTIME, &time)
        #else
        // clock_gettime(3): unlike CLOCK_MONOTONIC it isn't affected by adjustments of the time.
        clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #endif
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// For the pauses of a wait, which are short and not negative.
    package static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    @inline(never)
    package static func pause(_ duration: Duration) {
        let (seconds, nanoseconds) = nanoseconds(duration).quotientAndRemainder(dividingBy: 1_000_000_000)
        var rest = timespec(tv_sec: time_t(seconds), tv_nsec: Int(nanoseconds))
        // A signal may cut the pause short: the caller asks the clock anyway.
        nanosleep(&rest, nil)
    }

    static func workingDirectory() throws(SystemCallError) -> String {
        guard let path = getcwd(nil, 0) else { throw failure("getcwd") }
        defer { free(path) }
        return try text(path, of: "getcwd")
    }

    /// What a call of the system gave, where it is text.
    ///
    /// Paths are bytes, and repaired ones would be those of another file, or of one for two.
    package static func text(_ bytes: UnsafePointer<CChar>, of call: StaticString) throws(SystemCallError)
        -> String
    {
        guard let text = String(validatingCString: bytes) else {
            throw SystemCallError(call: call.description, errorNumber: EILSEQ)
        }
        return text
    }

    package static var notText: Int32 { EILSEQ }
}
