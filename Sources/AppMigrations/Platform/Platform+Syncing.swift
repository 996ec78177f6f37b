import AppMigrationsSystem

/// Syncs files to disk, one by one or a whole file system at once.
extension Platform {
    package static func synchronize(
        _ descriptor: Int32,
        path: String? = nil,
        throughCache: Bool = true
    ) throws(SystemCallError) {
        #if canImport(Darwin)
        // fsync writes data to the drive, and F_FULLFSYNC also flushes the drive's cache (fcntl(2)). Volumes
        // that don't support F_FULLFSYNC return one of several errors, and fsync is then the best that is
        // left. But after EIO, ENXIO, ENOSPC and EDQUOT, which are errors of the drive or a lack of space,
        // fsync could succeed although data was lost. So these are thrown.
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

    /// Syncs a file to disk, or the names in a folder.
    @inline(never)
    package static func synchronize(_ path: String, throughCache: Bool = true) throws(SystemCallError) {
        let descriptor = try opening(path) { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: path, throughCache: throughCache)
    }

    /// Syncs an entry of a walk to disk.
    ///
    /// Call this for a folder when the walk leaves it, because its descriptor is open then.
    static func synchronize(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        // A drive has one cache for everything. The top is synced last, and only that sync flushes the
        // drive's cache. That covers all the files.
        let throughCache = entry.isTop
        if let descriptor = entry.descriptor {
            try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
            return
        }
        guard let descriptor = try ignoringMissing(openFound(entry)) else { return }
        defer { closeAfterReading(descriptor) }
        try synchronizeIfSupported(descriptor, path: entry.path, throughCache: throughCache)
    }

    /// Syncs a file, and ignores `EINVAL`: the file system has no way to sync such a file (fsync(2)).
    private static func synchronizeIfSupported(_ descriptor: Int32, path: String, throughCache: Bool)
        throws(SystemCallError)
    {
        _ = try ignoring([EINVAL], synchronize(descriptor, path: path, throughCache: throughCache))
    }

    /// Syncs the whole file system of an open file to disk; false if that isn't reliable on this file system.
    ///
    /// It throws if anything could not be written since that file was opened, unless an earlier call reported
    /// the same error for the same descriptor.
    static func flushFileSystem(of file: Int32) throws(SystemCallError) -> Bool {
        // Before Linux 5.8, syncfs didn't report data that could not be written (syncfs(2)). Android's
        // kernels can be older, so it isn't used there.
        #if os(Linux)
        // Network file systems, file systems in user space and overlays report errors only for each file, or
        // not at all. So only ext2 to ext4, XFS and Btrfs are accepted. Their numbers are from statfs(2).
        if ![0xEF53, 0x5846_5342, 0x9123_683E].contains(app_migrations_file_system(file)) { return false }
        // A sandbox refuses system calls that it doesn't know, with EPERM or ENOSYS.
        while syncfs(file) == -1 {
            if errno == EINTR { continue }
            if [EPERM, ENOSYS].contains(errno) { return false }
            throw lastError("syncfs")
        }
        // If XFS has nothing new in its log, syncfs leaves data that was overwritten in place in the drive's
        // cache. This call flushes the cache. Before Linux 5.17, it also reports that a journal could not be
        // written, which syncfs doesn't.
        try synchronize(file)
        return true
        #else
        return false
        #endif
    }
}
