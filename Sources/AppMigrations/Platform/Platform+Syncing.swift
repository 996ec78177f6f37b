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

/// Syncing of files to the disk, one by one or many at once.
extension Platform {
    package static func synchronize(_ descriptor: Int32, throughCache: Bool = true) throws(SystemCallError) {
        #if canImport(Darwin)
        // fcntl(2): fsync moves data to the drive, F_FULLFSYNC through the drive's cache. Volumes that can't do
        // the second say so in several ways, and the first is all there is. After an error of the drive or of the
        // space the first could succeed and the data be lost.
        if throughCache {
            do throws(SystemCallError) {
                _ = try retrying("fcntl") { fcntl(descriptor, F_FULLFSYNC) }
                return
            } catch {
                if [EIO, ENXIO, ENOSPC, EDQUOT].contains(error.errorNumber) { throw error }
            }
        }
        #endif
        _ = try retrying("fsync") { fsync(descriptor) }
    }

    /// Syncs and closes a file, or a folder, whose names are synced.
    private static func synchronize(closing descriptor: Int32, throughCache: Bool) throws(SystemCallError) {
        defer { closeAfterReading(descriptor) }
        do throws(SystemCallError) {
            try synchronize(descriptor, throughCache: throughCache)
        } catch {
            // fsync(2): EINVAL when the file system has no synchronization for what the descriptor stands for.
            if error.errorNumber != EINVAL { throw error }
        }
    }

    @inline(never)
    package static func synchronizeDirectory(_ path: String) throws(SystemCallError) {
        try synchronize(closing: openDirectory(path), throughCache: true)
    }

    static func synchronize(entry path: String, throughCache: Bool) throws(SystemCallError) {
        try at(path) { () throws(SystemCallError) in
            try synchronize(closing: openEntry(path), throughCache: throughCache)
        }
    }

    /// Syncs all of the file system that an open file is on to disk; `false` where the call can't be relied on.
    ///
    /// It reports what could not be written since that file was opened, as far as no other call has reported it there.
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        // Android's kernels can be older than Linux 5.8, since which the call reports what could not be written (syncfs(2)).
        #if os(Linux)
        // Network file systems, those of a user's process and overlays report errors to each file only, or not at all. These are
        // ext2 to ext4, XFS and Btrfs, as statfs(2) lists them.
        if ![0xEF53, 0x5846_5342, 0x9123_683E].contains(app_migrations_file_system(file)) { return false }
        // A sandbox refuses the calls that it doesn't list.
        while syncfs(file) == -1 {
            if errno == EINTR { continue }
            if [EPERM, ENOSYS].contains(errno) { return false }
            throw failure("syncfs")
        }
        // XFS leaves what was written over older bytes in the cache of the drive, if nothing is new in its log. This call
        // flushes that cache. Before Linux 5.17 it also tells what `syncfs` did not: that a journal could not be written.
        try synchronize(file)
        return true
        #else
        return false
        #endif
    }
}
