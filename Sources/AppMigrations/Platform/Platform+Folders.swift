import AppMigrationsSystem

/// Folders, and the names in them.
extension Platform {
    /// Creates a folder at an absolute path, and the missing folders above it, for this user alone.
    ///
    /// The parent folder of each new folder is synced to disk.
    package static func makeDirectories(_ path: String) throws(SystemCallError) {
        // If the item at the path isn't a folder, the first call that uses the path throws an error.
        if try exists(at: path) { return }
        let folder = FilePaths.parent(path)
        try makeDirectories(folder)
        // Another process may have created the folder since it was checked.
        if try ignoring([EEXIST], makeDirectory(path)) == nil { return }
        if isRoot {
            let made = try openDirectory(path, adding: O_NOFOLLOW)
            defer { closeAfterReading(made) }
            // Give the new folder to the owner of the parent folder. That owner could have replaced it with
            // another folder that root owns. So check that the folder is empty, as the new folder is.
            if try nameBytes(inOpen: made, path: path).isEmpty {
                try giveOwnership(of: made, toOwnerOf: folder)
            }
        }
        try synchronize(folder)
    }

    /// The names in a folder, in no particular order.
    ///
    /// If a name isn't UTF-8, this throws: no `String` can hold that name, and a repaired name would lead to
    /// another file.
    package static func names(in folder: String) throws(SystemCallError) -> [String] {
        var names: [String] = []
        for bytes in try nameBytes(in: folder) {
            guard let name = String(validUTF8: bytes.dropLast().map { UInt8(bitPattern: $0) }) else {
                throw SystemCallError(call: "readdir", errorNumber: EILSEQ, path: folder)
            }
            names.append(name)
        }
        return names
    }

    /// The names in a folder, as NUL-terminated C strings.
    static func nameBytes(in folder: String) throws(SystemCallError) -> [[CChar]] {
        let descriptor = try openDirectory(folder)
        defer { closeAfterReading(descriptor) }
        return try nameBytes(inOpen: descriptor, path: folder)
    }

    /// The names in an open folder, as NUL-terminated C strings.
    ///
    /// Nothing may have been read from `descriptor` before. `path` is the path in error messages.
    static func nameBytes(inOpen descriptor: Int32, path: String) throws(SystemCallError) -> [[CChar]] {
        // Closing the stream also closes its descriptor, which the caller still needs. So the stream gets a
        // duplicate.
        let duplicate = try retrying("fcntl", at: path) {
            fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        }
        guard let stream = fdopendir(duplicate) else {
            defer { closeAfterReading(duplicate) }
            throw lastError("fdopendir", at: path)
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            // readdir returns a null pointer both at the end and after an error, but sets errno only after an
            // error (POSIX).
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
                return Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1))
            }
            if name != [0x2E, 0], name != [0x2E, 0x2E, 0] { names.append(name) }
        }
        if errno != 0 { throw lastError("readdir", at: path) }
        return names
    }

    /// A name as text for messages: bytes that aren't UTF-8 are replaced.
    static func readable(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
