internal import AppMigrations
internal import AppMigrationsSystem

/// The file system calls for a store's files.
///
/// They never open a database that a connection of this process may have open, because closing it would
/// release SQLite's locks: "if a process closes any of the file descriptors for a file, all of its POSIX
/// locks on it are gone" (fcntl).
extension Platform {
    /// The status of a path, with links followed; `nil` if nothing exists there.
    static func status(_ path: String) throws(SystemCallError) -> FileStatus? {
        try ignoring([ENOENT], FileStatus(ofEntry: path, following: true))
    }

    /// Resolves the symbolic links of a path; the file need not exist.
    ///
    /// A link to a missing file is also followed, because SQLite creates the database at its target.
    static func resolvedPath(of path: String) throws(SystemCallError) -> String {
        if let path = try resolvedIfPresent(path) { return path }
        let above = folder(of: path)
        if let target = try linkTarget(of: path) {
            let isAbsolute = target.utf8.first == UInt8(ascii: "/")
            return try resolvedPath(of: isAbsolute ? target : "\(above)/\(target)")
        }
        guard let folder = try resolvedIfPresent(above) else { return path }
        return "\(folder == "/" ? "" : folder)/\(FilePaths.last(path))"
    }

    private static func resolvedIfPresent(_ path: String) throws(SystemCallError) -> String? {
        try ignoring([ENOENT], resolved(path))
    }

    /// The target of a link; `nil` if the path isn't a link or doesn't exist.
    private static func linkTarget(of path: String) throws(SystemCallError) -> String? {
        // `readlink` writes no terminating zero. It never writes the last byte here, so that byte stays zero.
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        if readlink(path, &target, Int(PATH_MAX)) >= 0 { return try text(target, of: "readlink") }
        if errno == EINVAL || errno == ENOENT { return nil }
        throw lastError("readlink")
    }

    static func folder(of path: String) -> String {
        path.utf8.contains(UInt8(ascii: "/")) ? FilePaths.parent(path) : "."
    }

    /// Creates an empty file that is as private as `original`.
    static func makeFile(_ path: String, like original: FileStatus?) throws(SystemCallError) {
        let file = try createExclusively(path)
        defer { closeAfterReading(file) }
        guard let original else { return }
        let made = try FileStatus(ofOpen: file)
        var permissions = original.permissions & 0o777
        if made.owner != original.owner || made.group != original.group {
            // Try to set the owner and the group, then only the group: with `uid_t.max` as the owner,
            // `fchown` leaves the owner alone. Changing the owner needs privileges, and changing the group
            // needs a membership in it.
            for owner in [original.owner, .max] where fchown(file, owner, original.group) != 0 {
                if errno != EPERM { throw lastError("fchown") }
                // The group could not be set. The group that the new file has gets no access, because its
                // members may not be those of the original's group.
                if owner == .max { permissions &= ~0o070 }
            }
        }
        if fchmod(file, mode_t(permissions)) != 0 { throw lastError("fchmod") }
    }

    /// Creates a file that contains `text`, and syncs it.
    ///
    /// The caller syncs its folder.
    static func makeFile(_ path: String, holding text: String) throws(SystemCallError) {
        let file = try createExclusively(path)
        defer { closeAfterReading(file) }
        let bytes = Array(text.utf8)
        let count = try retrying("write") { write(file, bytes, bytes.count) }
        if count < bytes.count { throw SystemCallError(call: "write", errorNumber: ENOSPC) }
        try synchronize(file)
    }

    static func removeIfPresent(_ path: String) throws(SystemCallError) {
        _ = try ignoring([ENOENT], remove(path))
    }

    /// The first bytes of a file, at most `count`; empty if the file is missing.
    static func head(ofFile path: String, count: Int) throws(SystemCallError) -> [UInt8] {
        guard let file = try ignoring([ENOENT], opening { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
        else { return [] }
        defer { closeAfterReading(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try retrying("pread") { pread(file, &bytes, count, 0) }
        return Array(bytes[..<read])
    }
}
