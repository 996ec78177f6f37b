import AppMigrationsSystem

/// Folders, the names in them, and whose they are.
extension Platform {
    /// Makes a directory, whose path is absolute, and those above it, for this user alone, each durable in the one above.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        // Anything else that stands there is found when it is used.
        if try exists(at: path) { return }
        let folder = FilePaths.parent(path)
        try makeDirectories(folder)
        // Somebody may have made it meanwhile.
        if try unless([EEXIST], makeDirectory(path)) == nil { return }
        if isRoot {
            let made = try openDirectory(path, O_NOFOLLOW)
            defer { closeAfterReading(made) }
            // The folder's owner may have put another one in its place, and what root has in that is not theirs.
            if try nameBytes(inOpen: made, path).isEmpty { try own(made, in: folder) }
        }
        try synchronize(folder)
    }

    /// Gives what root has just made in another user's folder to that user, so that one accidental `sudo` shuts nobody out.
    ///
    /// A file that takes the place of the one at `old` keeps its owner. Where others may write to the folder, they could have led
    /// root there. Where the system has no owners, or doesn't let this process, the file stays as it is: to have it matters more.
    static func own(_ made: Int32, in folder: String, replacing old: String? = nil) throws(SystemCallError) {
        if !isRoot { return }
        var model = try FileStatus(ofEntry: folder, following: true)
        if model.permissions & 0o002 != 0 { return }
        if let old, let replaced = try status(old), replaced.kind == .file { model = replaced }
        if model.owner == 0 { return }
        _ = try unless(refusals, retrying("fchown") { fchown(made, model.owner, model.group) })
    }

    /// Opens the file of a lock, or makes it.
    static func openLock(_ path: String, in folder: String) throws(SystemCallError) -> Int32 {
        while true {
            // A file that was there before may be anybody's. It keeps its owner.
            if let found = try unless([ENOENT], openLock(path, making: 0)) { return found }
            guard let made = try unless([EEXIST], openLock(path, making: O_CREAT | O_EXCL)) else { continue }
            do throws(SystemCallError) {
                try setPermissions(made, 0o600)
                try own(made, in: folder)
                return made
            } catch {
                closeAfterReading(made)
                throw error
            }
        }
    }

    /// Sets the permissions of a file that was just made.
    ///
    /// Another thread may have set a strange umask, as servers do around the `bind` of a socket. A file system without permissions
    /// refuses the call, which is no error here.
    static func setPermissions(_ made: Int32, _ permissions: UInt32) throws(SystemCallError) {
        _ = try unless(refusals, retrying("fchmod") { fchmod(made, mode_t(permissions)) })
    }

    static func mayWrite(_ path: String, andRead: Bool = false) throws(SystemCallError) -> Bool {
        try refusalOfWriting(path, andReading: andRead) == nil
    }

    /// The reason why this process may not write to a file or folder; `nil` if it may.
    ///
    /// access(2): EPERM for what is immutable too. It asks for the effective user: a daemon may work as another one than it was
    /// started by.
    static func refusalOfWriting(_ path: String, andReading: Bool = false) throws(SystemCallError)
        -> SystemCallError?
    {
        let rights = andReading ? R_OK | W_OK : W_OK
        do throws(SystemCallError) {
            #if os(Android)
            // Its C library has no such flag, and no app there works as another user.
            _ = try retrying("access", path) { access(path, rights) }
            #else
            _ = try retrying("access", path) { faccessat(AT_FDCWD, path, rights, AT_EACCESS) }
            #endif
            return nil
        } catch {
            if (forbidden + [EROFS]).contains(error.errorNumber) { return error }
            throw error
        }
    }

    /// What a file or folder is that nobody can rename, remove or replace; `nil` for others.
    static func wordIfUnchangeable(_ path: String) throws(SystemCallError) -> Message? {
        #if canImport(Darwin)
        var status = stat()
        if lstat(path, &status) != 0 { return nil }
        if status.st_flags & UInt32(UF_IMMUTABLE | SF_IMMUTABLE) != 0 { return "immutable" }
        return status.st_flags & UInt32(UF_APPEND | SF_APPEND) != 0 ? "append-only" : nil
        #elseif os(Linux)
        // statx(2): the attributes 0x10 and 0x20; a file system without them leaves them out.
        var words = [UInt64](repeating: 0, count: 32)
        if statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &words) != 0 { return nil }
        if words[1] & 0x10 != 0 { return "immutable" }
        return words[1] & 0x20 != 0 ? "append-only" : nil
        #else
        return nil
        #endif
    }

    /// What a link says that it leads to.
    static func target(ofLink path: String) throws(SystemCallError) -> String {
        // One byte stays zero, so that the text ends with it.
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = try retrying("readlink", path) { readlink(path, &content, Int(PATH_MAX)) }
        let bytes = content.prefix(Int(count)).map { UInt8(bitPattern: $0) }
        guard let text = String(validUTF8: bytes) else {
            throw SystemCallError(call: "readlink", errorNumber: EILSEQ, path: path)
        }
        return text
    }

    static func isOwn(_ status: FileStatus) -> Bool { status.owner == geteuid() }

    static var isRoot: Bool { geteuid() == 0 }

    /// The numbers of calls that a file system refuses for want of what is asked for, or of rights.
    static var refusals: [Int32] { [EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL] }

    /// The names in a directory, in no order.
    ///
    /// A name that isn't UTF-8 throws: no path could lead to it, and a repaired one would lead elsewhere. Without `strictly` it is
    /// left out.
    package static func names(in folder: String, strictly: Bool = false) throws(SystemCallError) -> [String] {
        let descriptor = try openDirectory(folder)
        defer { closeAfterReading(descriptor) }
        var names: [String] = []
        for bytes in try nameBytes(inOpen: descriptor, folder) {
            if let name = String(validUTF8: bytes.dropLast().map { UInt8(bitPattern: $0) }) {
                names.append(name)
            } else if strictly {
                throw SystemCallError(call: "readdir", errorNumber: EILSEQ, path: folder)
            }
        }
        return names
    }

    /// The names in a directory as bytes, each with a NUL.
    static func nameBytes(in folder: String) throws(SystemCallError) -> [[CChar]] {
        let descriptor = try openDirectory(folder)
        defer { closeAfterReading(descriptor) }
        return try nameBytes(inOpen: descriptor, folder)
    }

    /// A name for people: bytes that are not UTF-8 are replaced.
    static func readable(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The names in an open directory that nothing was read from; `path` is for an error.
    static func nameBytes(inOpen descriptor: Int32, _ path: String) throws(SystemCallError) -> [[CChar]] {
        // Closing the stream closes its descriptor.
        let listed = try retrying("fcntl", path) { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
        guard let stream = fdopendir(listed) else {
            defer { closeAfterReading(listed) }
            throw failure("fdopendir", path)
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            // POSIX: the end and an error are both a null pointer, and only an error sets errno.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
                return Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1))
            }
            if name != [0x2E, 0], name != [0x2E, 0x2E, 0] { names.append(name) }
        }
        if errno != 0 { throw failure("readdir", path) }
        return names
    }

    /// Gives the owner of a folder all rights to it; false if it is no folder, or has them.
    ///
    /// Without the right to write to it, a folder can't be emptied, nor get another one above it (rename(2)).
    @discardableResult
    static func makeWritable(_ path: String, _ status: FileStatus) throws(SystemCallError) -> Bool {
        try makeWritable(Array(path.utf8CString), path, status)
    }

    /// The same for a path of any bytes, with a NUL at their end; `text` is that path for people.
    @discardableResult
    static func makeWritable(_ path: [CChar], _ text: String, _ status: FileStatus) throws(SystemCallError)
        -> Bool
    {
        if status.kind != .directory || status.permissions & 0o700 == 0o700 { return false }
        _ = try retrying("chmod", text) { chmod(path, mode_t(status.permissions | 0o700)) }
        return true
    }

    static func setPermissions(_ path: String, _ permissions: UInt32) throws(SystemCallError) {
        _ = try retrying("chmod", path) { chmod(path, mode_t(permissions)) }
    }

    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw failure("realpath", path) }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    static func workingDirectory() throws(SystemCallError) -> String {
        guard let path = getcwd(nil, 0) else { throw failure("getcwd") }
        defer { free(path) }
        return try text(path, of: "getcwd")
    }

    /// The result of a call of the system, where it is text.
    ///
    /// Paths are bytes, and repaired ones would be those of another file, or of one for two.
    package static func text(_ bytes: UnsafePointer<CChar>, of call: StaticString) throws(SystemCallError)
        -> String
    {
        guard let text = String(validatingCString: bytes) else {
            throw SystemCallError(call: call.description, errorNumber: EILSEQ)
        }
        return text
    }

    static func isNotPermitted(_ error: SystemCallError) -> Bool { error.errorNumber == EPERM }

    static func isOtherFileSystem(_ error: SystemCallError) -> Bool { error.errorNumber == EXDEV }

    /// True if a folder can't be moved, though what is in it may be (rename(2)).
    static func keepsFolder(_ error: SystemCallError) -> Bool {
        [EXDEV, EBUSY, EPERM, EACCES].contains(error.errorNumber)
    }

    /// The error for a thing that is neither file, folder nor link.
    static func unsupported(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: ENOTSUP, path: path)
    }

    /// The error for a folder that isn't one of this user's.
    static func foreign(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: EPERM, path: path)
    }

    /// The error for a file system that is mounted inside of a tree.
    static func mounted(_ path: String) -> SystemCallError {
        SystemCallError(call: "rename", errorNumber: EXDEV, path: path)
    }
}

/// Syncing of files to the disk, one by one or many at once.
extension Platform {
    package static func synchronize(_ descriptor: Int32, _ path: String? = nil, throughCache: Bool = true)
        throws(SystemCallError)
    {
        #if canImport(Darwin)
        // fcntl(2): fsync moves data to the drive, F_FULLFSYNC through the drive's cache. Volumes that can't do
        // the second say so in several ways, and the first is all there is. After an error of the drive or of the
        // space the first could succeed and the data be lost.
        if throughCache {
            do throws(SystemCallError) {
                _ = try retrying("fcntl", path) { fcntl(descriptor, F_FULLFSYNC) }
                return
            } catch {
                if [EIO, ENXIO, ENOSPC, EDQUOT].contains(error.errorNumber) { throw error }
            }
        }
        #endif
        _ = try retrying("fsync", path) { fsync(descriptor) }
    }

    /// Syncs a file, or the names in a folder, to disk.
    @inline(never)
    package static func synchronize(_ path: String, throughCache: Bool = true) throws(SystemCallError) {
        let descriptor = try opening(path) { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(descriptor) }
        // fsync(2): EINVAL when the file system has no synchronization for what the descriptor stands for.
        _ = try unless([EINVAL], synchronize(descriptor, path, throughCache: throughCache))
    }

    /// Syncs an entry of a walk; a folder as it is left, when its descriptor is open.
    static func synchronize(_ entry: TreeWalk.Entry) throws(SystemCallError) {
        // A drive has one cache for everything: the top, which comes last, brings all the files through it.
        if let descriptor = entry.descriptor {
            _ = try unless([EINVAL], synchronize(descriptor, entry.path, throughCache: entry.isTop))
            return
        }
        guard let descriptor = try unless(absent, openFound(entry)) else { return }
        defer { closeAfterReading(descriptor) }
        _ = try unless([EINVAL], synchronize(descriptor, entry.path, throughCache: entry.isTop))
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
