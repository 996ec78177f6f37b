import AppMigrationsSystem

/// Syncing files to disk, one by one or a whole file system at once.
extension Platform {
    package static func synchronize(
        _ descriptor: Int32,
        path: String? = nil,
        throughCache: Bool = true
    ) throws(SystemCallError) {
        #if canImport(Darwin)
        // fcntl(2): fsync moves data to the drive, F_FULLFSYNC moves it through the drive's cache. Volumes
        // that can't do the second report that with several errors, and then fsync is all there is. After an
        // error of the drive, or for lack of space, fsync could succeed and the data be lost. So these errors
        // are thrown.
        if throughCache {
            do throws(SystemCallError) {
                _ = try retrying("fcntl", at: path) { fcntl(descriptor, F_FULLFSYNC) }
                return
            } catch {
                if [EIO, ENXIO, ENOSPC, EDQUOT].contains(error.errorNumber) { throw error }
            }
        }
        #endif
        _ = try retrying("fsync", at: path) { fsync(descriptor) }
    }

    /// Syncs a file, or the names in a folder, to disk.
    @inline(never)
    package static func synchronize(_ path: String, throughCache: Bool = true) throws(SystemCallError) {
        let descriptor = try opening(path) { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: path, throughCache: throughCache)
    }

    /// Syncs an entry of a walk to disk.
    ///
    /// A folder is synced when the walk leaves it, because its descriptor is open then.
    static func synchronize(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        // A drive has one cache for everything. The top comes last, and brings all the files through that
        // cache.
        let throughCache = entry.isTop
        if let descriptor = entry.descriptor {
            try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
            return
        }
        guard let descriptor = try ignoringMissing(openFound(entry)) else { return }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
    }

    /// fsync(2): `EINVAL` means that the file system has no way to sync such a file.
    private static func synchronizeIfSupported(_ descriptor: Int32, path: String, throughCache: Bool)
        throws(SystemCallError)
    {
        _ = try ignoring([EINVAL], synchronize(descriptor, path: path, throughCache: throughCache))
    }

    /// Syncs the whole file system of an open file to disk; false if that isn't reliable on this file system.
    ///
    /// It throws if something could not be written since that file was opened, unless another call has
    /// reported that for the file before.
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        // Only since Linux 5.8 does the call report data that could not be written (syncfs(2)). Android's
        // kernels can be older.
        #if os(Linux)
        // Network file systems, those in user space and overlays report errors only for each file, or not at
        // all. The numbers, from statfs(2), are those of ext2 to ext4, of XFS and of Btrfs.
        if ![0xEF53, 0x5846_5342, 0x9123_683E].contains(app_migrations_file_system(file)) { return false }
        // A sandbox refuses system calls that it doesn't know.
        while syncfs(file) == -1 {
            if errno == EINTR { continue }
            if [EPERM, ENOSYS].contains(errno) { return false }
            throw lastError("syncfs")
        }
        // If nothing is new in its log, XFS leaves overwritten data in the cache of the drive. This call
        // flushes that cache. Before Linux 5.17 it also reports an error that `syncfs` doesn't: that a
        // journal could not be written.
        try synchronize(file)
        return true
        #else
        return false
        #endif
    }
}
