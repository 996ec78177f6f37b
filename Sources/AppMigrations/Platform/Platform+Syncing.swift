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

/// What brings files to the disk, one by one or many at once.
extension Platform {
    /// Syncs a file, or the names in a folder, to disk, or to the cache of the drive only.
    ///
    /// A closure can leave a file or folder without permissions. If it had to be opened, the record would fail at every start: all
    /// of its file system is synced then, where the system can.
    static func synchronize(entry path: String, throughCache: Bool) throws(SystemCallError) {
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try openEntry(path)
        } catch {
            if !forbids(error) { throw error }
            return try synchronizeFileSystem(of: FilePaths.parent(path), instead: error)
        }
        defer { closeAfterReading(descriptor) }
        try at(path) { () throws(SystemCallError) in
            do throws(SystemCallError) {
                try throughCache ? synchronize(descriptor) : handOver(descriptor)
            } catch {
                // fsync(2): EINVAL when the file system has no synchronization for what the descriptor stands for.
                if error.errorNumber != EINVAL { throw error }
            }
        }
    }

    /// Syncs all of the file system of a folder to disk, where the system can; throws `failure` where it can't.
    static func synchronizeFileSystem(
        of folder: String,
        instead failure: SystemCallError
    ) throws(SystemCallError) {
        #if os(Linux) || os(Android)
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try openDirectory(folder)
        } catch {
            throw failure
        }
        defer { closeAfterReading(descriptor) }
        _ = try retrying("syncfs", folder) { syncfs(descriptor) }
        #else
        throw failure
        #endif
    }

    /// Syncs all of the file system that an open file is on to disk; `false` where the call can't be relied on.
    ///
    /// It reports what could not be written since that file was opened, as far as no other call has reported it there.
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        if !isFlushTrusted(file) { return false }
        // A sandbox refuses the calls that it doesn't list.
        if syncfs(file) == -1 {
            if [EPERM, ENOSYS].contains(errno) { return false }
            throw failure("syncfs")
        }
        // XFS leaves what was written over older bytes in the cache of the drive, if nothing is new in its log. This call
        // flushes that cache. Before Linux 5.17 it also tells what `syncfs` did not: that a journal could not be written.
        try handOver(file)
        return true
        #else
        return false
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
    /// Network file systems, those of a user's process and overlays report errors to each file only, or not at all.
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

    /// Says of an error what it was about, where that isn't said.
    static func at<Value>(
        _ path: String,
        _ body: () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw error.at(path)
        }
    }

    /// What a thing that is neither file, folder nor link can't have done to it.
    static func unsupported(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: ENOTSUP, path: path)
    }

    /// What a file system that is mounted inside of a tree stands in the way of.
    static func mounted(_ path: String) -> SystemCallError {
        SystemCallError(call: "rename", errorNumber: EXDEV, path: path)
    }
}

extension SystemCallError {
    /// The same with what it was about, where that isn't said.
    func at(_ place: String) -> SystemCallError {
        SystemCallError(call: call, errorNumber: errorNumber, path: path ?? place)
    }
}
