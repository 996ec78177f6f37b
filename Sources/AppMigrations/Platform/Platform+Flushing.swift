#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CAppMigrationsLinux
import Glibc
#elseif canImport(Musl)
import CAppMigrationsLinux
import Musl
#elseif canImport(Android)
import Android
import CAppMigrationsLinux
#endif

/// Many files at once: brought to the disk by one call, or all begun before each is waited for.
extension Platform {
    /// Syncs all of the file system that an open file is on to disk; `false` where the call can't be relied on.
    ///
    /// It reports what could not be written since that file was opened, as far as no other call has reported it there.
    @inline(never)
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        if !isFlushTrusted(file) { return false }
        do throws(SystemCallError) {
            _ = try retrying("syncfs") { syncfs(file) }
        } catch {
            // A sandbox refuses the calls that it doesn't list.
            if error.isUnsettable { return false }
            throw error
        }
        // XFS leaves what was written over older bytes in the cache of the drive, if nothing is new in its log. This call
        // flushes that cache. Before Linux 5.17 it also tells what `syncfs` did not: that a journal could not be written.
        try handOver(file)
        return true
        #else
        return false
        #endif
    }

    /// Starts to write what an open file has in memory, where the system can; whether it succeeds is told by the sync.
    static func beginWriting(_ file: Int32) {
        #if os(Linux)
        app_migrations_begin_writing(file)
        #endif
    }

    static var canBeginWriting: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Whether `release`, as uname(2) gives it, is at least this one of Linux.
    static func isLinux(_ release: String, atLeast wanted: (major: Int, minor: Int)) -> Bool {
        let numbers = release.utf8.split(maxSplits: 2, omittingEmptySubsequences: false) {
            !(0x30...0x39).contains($0)
        }
        guard numbers.count > 1, let major = Int(String(numbers[0]) ?? ""),
            let minor = Int(String(numbers[1]) ?? "")
        else { return false }
        return (major, minor) >= (wanted.major, wanted.minor)
    }

    #if os(Linux) || os(Android)
    /// Since Linux 5.8 the call reports what could not be written (syncfs(2)).
    ///
    /// Network file systems, those of a user's process and
    /// overlays report errors to each file only, or not at all.
    private static func isFlushTrusted(_ file: Int32) -> Bool {
        // ext2 to ext4, XFS and Btrfs, as statfs(2) lists them.
        guard [0xEF53, 0x5846_5342, 0x9123_683E].contains(app_migrations_file_system(file)) else {
            return false
        }
        var system = utsname()
        if uname(&system) != 0 { return false }
        let release = withUnsafeBytes(of: &system.release) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return isLinux(release, atLeast: (5, 8))
    }
    #endif
}
