import AppMigrationsSystem

/// Removing the item at a path and everything in it.
extension Platform {
    /// Removes as much of a tree as possible, then throws the first error, if there was one.
    ///
    /// It doesn't enter a folder on which something is mounted.
    static func removeTree(_ path: String) throws(SystemCallError) {
        var failure: SystemCallError?
        try TreeWalk.visit(path) { entry, moment throws(SystemCallError) in
            do throws(SystemCallError) {
                switch moment {
                case .file:
                    try remove(entry, isFolder: false)
                case .entering:
                    // Only folders are checked for mounts: the system doesn't remove a file on which
                    // something is mounted (unlink(2)).
                    if try isMountPoint(entry) { throw SystemCallError.mounted(entry.path) }
                    try makeWritable(entry)
                case .leaving where failure == nil:
                    try remove(entry, isFolder: true)
                case .leaving:
                    // If an entry of this folder could not be removed, the folder isn't empty and can't be
                    // removed either. The error of the entry is in `failure`, so the error of the folder is
                    // ignored.
                    _ = try ignoring([ENOTEMPTY, EEXIST], remove(entry, isFolder: true))
                }
                return true
            } catch {
                if failure == nil { failure = error }
                return false
            }
        }
        if let failure { throw failure }
    }

    private static func remove(_ entry: TreeWalk.Entry, isFolder: Bool) throws(SystemCallError) {
        do throws(SystemCallError) {
            try removeOnce(entry, isFolder: isFolder)
        } catch {
            // A closure may have made its files immutable, or a user may have locked them in the Finder.
            guard error.isNotPermitted, makeMutable(entry) else { throw error }
            try removeOnce(entry, isFolder: isFolder)
        }
    }

    private static func removeOnce(_ entry: TreeWalk.Entry, isFolder: Bool) throws(SystemCallError) {
        let call: StaticString = isFolder ? "rmdir" : "unlink"
        let flags = isFolder ? AT_REMOVEDIR : 0
        _ = try ignoringMissing(
            retrying(call, at: entry.path) { unlinkat(entry.folder, entry.name, flags) }
        )
    }
}
