import AppMigrationsSystem

/// Locks between processes.
extension Platform {
    /// Opens a lock file, and creates it if it doesn't exist.
    static func openLock(_ path: String, in folder: String) throws(SystemCallError) -> Int32 {
        while true {
            // First open a file that exists, because its owner must not be changed: only a file that this
            // function has created may be given to the folder's owner.
            if let found = try ignoring([ENOENT], openLock(path, making: 0)) { return found }
            guard let made = try ignoring([EEXIST], openLock(path, making: O_CREAT | O_EXCL)) else {
                continue
            }
            do throws(SystemCallError) {
                try setPermissions(ofNew: made, 0o600)
                try giveOwnership(of: made, toOwnerOf: folder)
                return made
            } catch {
                closeAfterReading(made)
                throw error
            }
        }
    }

    /// Locks an open file without waiting; returns false if another lock on the file prevents that.
    package static func tryLock(_ descriptor: Int32, sharing: Bool = false) throws(SystemCallError) -> Bool {
        let kind = sharing ? LOCK_SH : LOCK_EX
        return try ignoring([EWOULDBLOCK], retrying("flock") { flock(descriptor, kind | LOCK_NB) }) != nil
    }

    /// True if a process holds an exclusive lock on a file.
    ///
    /// This function doesn't create the file, and doesn't wait. It tries to get a shared lock, because on NFS
    /// only a descriptor that is open for writing can get an exclusive lock (flock(2)).
    static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        guard let descriptor = try ignoringMissing(openEntry(path)) else { return false }
        defer { unlock(descriptor) }
        return try !tryLock(descriptor, sharing: true)
    }

    static func release(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    /// Releases the lock and closes the file.
    ///
    /// Closing the file isn't enough: a child process that was created by `fork` shares the lock and would
    /// keep it.
    package static func unlock(_ descriptor: Int32) {
        release(descriptor)
        close(descriptor)
    }

    /// Writes the ID of this process into the lock file, so that people can see which process holds the lock.
    ///
    /// The line always has the same length, so it overwrites an older line completely. If writing it fails,
    /// the file is empty or names an earlier holder.
    static func writeHolder(_ descriptor: Int32) {
        let number = String(process)
        let line = number + String(repeating: " ", count: 11 - number.utf8.count) + "\n"
        // An error is ignored: if the disk is full, the save that follows reports it.
        _ = write(descriptor, line, line.utf8.count)
    }
}
