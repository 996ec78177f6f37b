import AppMigrationsSystem

/// Syncs files to disk, one by one or a whole file system at once.
///
/// ``StateFile`` lists the files and folders that the core syncs, with the moment.
extension Platform {
    package static func synchronize(
        _ descriptor: Int32,
        path: String? = nil,
        throughCache: Bool = true
    ) throws(SystemCallError) {
        #if canImport(Darwin)
        // fsync writes data to the drive, and F_FULLFSYNC also flushes the drive's cache (fcntl(2)). A volume
        // that doesn't support F_FULLFSYNC returns one of several errors, and fsync is then the best
        // alternative. But EIO, ENXIO, ENOSPC and EDQUOT mean that the drive failed or is full. After these
        // errors, fsync could succeed although data was lost, so they are thrown.
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

    /// Syncs the content of a file or the names in a folder to disk.
    @inline(never)
    package static func synchronize(_ path: String, throughCache: Bool = true) throws(SystemCallError) {
        let descriptor = try opening(path) { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: path, throughCache: throughCache)
    }

    /// Syncs an entry that a ``TreeWalk`` visits to disk.
    ///
    /// Call this for a folder when the walk leaves it, because its descriptor is open at that moment.
    static func synchronize(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        // A drive has one cache for all files, so flushing it once is enough. The top of the walk is synced
        // last, and only that sync flushes the drive's cache.
        let throughCache = entry.isTop
        if let descriptor = entry.descriptor {
            try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
            return
        }
        guard let descriptor = try ignoringMissing(openFound(entry)) else { return }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
    }

    /// Syncs a file, and ignores `EINVAL`, which means that the file system can't sync such a file
    /// (fsync(2)).
    private static func synchronizeIfSupported(_ descriptor: Int32, path: String, throughCache: Bool)
        throws(SystemCallError)
    {
        _ = try ignoring([EINVAL], synchronize(descriptor, path: path, throughCache: throughCache))
    }

    /// Syncs the whole file system of an open file to disk.
    ///
    /// - Returns: False if that isn't reliable on this file system.
    /// - Throws: An error if anything could not be written to this file system since the file was opened,
    ///   unless an earlier call has reported that error for the same descriptor.
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        // Before Linux 5.8, syncfs didn't report data that could not be written (syncfs(2)). Android's
        // kernels can be older, so it isn't used there.
        #if os(Linux)
        // On network file systems, file systems in user space and overlays, `syncfs` may succeed although
        // data wasn't written: only `fsync` of each file reports the error, or nothing does. So it is used
        // only on ext2 to ext4, XFS and Btrfs. Their numbers are from statfs(2).
        if ![0xEF53, 0x5846_5342, 0x9123_683E].contains(app_migrations_file_system(file)) { return false }
        // A sandbox refuses system calls that it doesn't know, with EPERM or ENOSYS.
        while syncfs(file) == -1 {
            if errno == EINTR { continue }
            if [EPERM, ENOSYS].contains(errno) { return false }
            throw lastError("syncfs")
        }
        // Sync the file itself too. If XFS has nothing new in its log, syncfs leaves data that was
        // overwritten in place in the drive's cache, and fsync flushes that cache. Before Linux 5.17, syncfs
        // doesn't report that a journal could not be written, and fsync does.
        try synchronize(file)
        return true
        #else
        return false
        #endif
    }
}
