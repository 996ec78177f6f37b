import AppMigrationsSystem

/// Folders, and the names in them.
extension Platform {
    /// Makes a folder at an absolute path and the missing folders above it, for this user alone, each durable
    /// in the folder above.
    static func makeDirectories(_ path: String) throws(SystemCallError) {
        // If something else is at the path, its first use reports that.
        if try exists(at: path) { return }
        let folder = FilePaths.parent(path)
        try makeDirectories(folder)
        // Another process may have made it since.
        if try ignoring([EEXIST], makeDirectory(path)) == nil { return }
        if isRoot {
            let made = try openDirectory(path, adding: O_NOFOLLOW)
            defer { closeAfterReading(made) }
            // The owner of the folder above may have put another folder of root's in its place. Only an empty
            // one can be the new one.
            if try nameBytes(inOpen: made, path: path).isEmpty {
                try giveOwnership(of: made, toOwnerOf: folder)
            }
        }
        try synchronize(folder)
    }

    /// The names in a folder, in no order.
    ///
    /// With `strictly`, a name that isn't UTF-8 throws: no path can express it, and a repaired one would lead
    /// to another file. Without `strictly` it is left out.
    package static func names(in folder: String, strictly: Bool = false) throws(SystemCallError) -> [String] {
        var names: [String] = []
        for bytes in try nameBytes(in: folder) {
            if let name = String(validUTF8: bytes.dropLast().map { UInt8(bitPattern: $0) }) {
                names.append(name)
            } else if strictly {
                throw SystemCallError(call: "readdir", errorNumber: EILSEQ, path: folder)
            }
        }
        return names
    }

    /// The names in a folder as bytes, each with a NUL at its end.
    static func nameBytes(in folder: String) throws(SystemCallError) -> [[CChar]] {
        let descriptor = try openDirectory(folder)
        defer { closeAfterReading(descriptor) }
        return try nameBytes(inOpen: descriptor, path: folder)
    }

    /// The names in an open folder that nothing was read from yet, as bytes, each with a NUL at its end.
    ///
    /// `path` is for an error.
    static func nameBytes(inOpen descriptor: Int32, path: String) throws(SystemCallError) -> [[CChar]] {
        // Closing the stream also closes its descriptor, so it gets a duplicate.
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
            // POSIX: readdir returns a null pointer at the end and for an error, and sets errno only for an
            // error.
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

    /// A name for people.
    ///
    /// Bytes that are not UTF-8 are replaced.
    static func readable(_ name: [CChar]) -> String {
        String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
