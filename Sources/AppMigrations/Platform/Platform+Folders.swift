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

/// Folders, and the names in them.
extension Platform {
    /// Makes a directory, whose path is absolute, and those above it, for this user alone, each durable in the one above.
    static func makeDirectories(_ path: String, isAboveThere: Bool = false) throws(SystemCallError) {
        if path == "/" { return }
        let folder = FilePaths.parent(path)
        if path.utf8.last == 0x2F { return try makeDirectories(folder) }
        do throws(SystemCallError) {
            try makeDirectory(path)
        } catch {
            // Somebody may have made it meanwhile; what else stands there is found when it is used.
            if error.errorNumber == EEXIST { return }
            if error.errorNumber != ENOENT || isAboveThere { throw error.at(path) }
            try makeDirectories(folder)
            return try makeDirectories(path, isAboveThere: true)
        }
        if geteuid() == 0 {
            let made = try opening { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            defer { closeAfterReading(made) }
            // The folder's owner may have put another one in its place, and what root has in that is not theirs.
            let listed = try opening("fcntl") { fcntl(made, F_DUPFD_CLOEXEC, 0) }
            if try names(in: listed, strictly: false).isEmpty { try own(made, in: folder) }
        }
        try synchronizeDirectory(folder)
    }

    /// Makes the names of a directory and of those above it durable, as far as this user may have made them.
    ///
    /// A directory that was found may have been made by another process, which didn't sync its name yet, or died before. The
    /// path isn't resolved: where a link is on it, this library didn't make what lies behind.
    @inline(never)
    static func synchronizeNames(above path: String) throws(SystemCallError) {
        var folder = FilePaths.parent(path)
        while try mayWrite(folder) {
            do throws(SystemCallError) {
                try synchronizeDirectory(folder)
            } catch {
                // A directory that can't be listed can't be opened for this call either.
                if !forbids(error) { throw error }
            }
            if folder == "/" { return }
            folder = FilePaths.parent(folder)
        }
    }

    /// The names in a directory, in no order.
    ///
    /// A name that isn't UTF-8 throws: no path could lead to it, and a repaired one would lead elsewhere. Without `strictly` it is
    /// left out.
    package static func names(in directory: String, strictly: Bool = false) throws(SystemCallError)
        -> [String]
    {
        try names(in: openDirectory(directory), strictly: strictly)
    }

    /// The names in an open directory, which is closed.
    private static func names(in descriptor: Int32, strictly: Bool) throws(SystemCallError) -> [String] {
        guard let stream = fdopendir(descriptor) else {
            let error = failure("fdopendir")
            closeAfterReading(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // POSIX: the end and an error are both a null pointer, and only an error sets errno.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(validatingCString: $0)
                }
            }
            if let name {
                if name != ".", name != ".." { names.append(name) }
            } else if strictly {
                throw SystemCallError(call: "readdir", errorNumber: EILSEQ)
            }
        }
        if errno != 0 { throw failure("readdir") }
        return names
    }

    static func removeFolder(_ path: String) throws(SystemCallError) {
        _ = try retrying("rmdir", path) { rmdir(path) }
    }

    static func setPermissions(_ path: String, _ permissions: UInt32) throws(SystemCallError) {
        _ = try retrying("chmod", path) { chmod(path, mode_t(permissions)) }
    }

    /// The path without links, of something that exists.
    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw failure("realpath", path) }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    static func makeLink(_ path: String, to content: String) throws(SystemCallError) {
        _ = try retrying("symlink", path) { symlink(content, path) }
    }

    static func linkContent(_ path: String) throws(SystemCallError) -> String {
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        _ = try retrying("readlink", path) { readlink(path, &content, Int(PATH_MAX)) }
        return try text(content, of: "readlink")
    }
}
