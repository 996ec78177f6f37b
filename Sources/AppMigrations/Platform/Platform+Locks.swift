import AppMigrationsSystem

/// Locks between processes.
extension Platform {
    /// Opens the file of a lock, or makes it.
    static func openLock(_ path: String, in folder: String) throws(SystemCallError) -> Int32 {
        while true {
            // A file that existed before may belong to anyone, and keeps its owner.
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

    package static func tryLock(_ descriptor: Int32, sharing: Bool = false) throws(SystemCallError) -> Bool {
        let kind = sharing ? LOCK_SH : LOCK_EX
        return try ignoring([EWOULDBLOCK], retrying("flock") { flock(descriptor, kind | LOCK_NB) }) != nil
    }

    /// True if a process holds the lock of a file.
    ///
    /// It makes no file, and waits for no process.
    ///
    /// It tries a shared lock, because NFS gives an exclusive lock only to a descriptor that may write
    /// (flock(2)).
    static func isLocked(_ path: String) throws(SystemCallError) -> Bool {
        guard let descriptor = try ignoringMissing(openEntry(path)) else { return false }
        defer { unlock(descriptor) }
        return try !tryLock(descriptor, sharing: true)
    }

    static func release(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    /// Releases the lock and closes the file.
    ///
    /// Closing alone isn't enough: a child process that was made by `fork` shares the lock.
    package static func unlock(_ descriptor: Int32) {
        release(descriptor)
        close(descriptor)
    }

    /// Writes which process holds the lock, for people.
    ///
    /// If that fails, the holder stays unnamed.
    ///
    /// The line always has the same length, so that it overwrites an older one completely.
    static func writeHolder(_ descriptor: Int32) {
        let number = String(process)
        let line = number + String(repeating: " ", count: 11 - number.utf8.count) + "\n"
        // If the disk has no room for twelve bytes, the save that follows reports that.
        _ = write(descriptor, line, line.utf8.count)
    }
}
