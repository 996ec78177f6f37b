import AppMigrationsSystem

/// Where paths and links lead.
extension Platform {
    /// The path without links.
    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw lastError("realpath", at: path) }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    static func workingDirectory() throws(SystemCallError) -> String {
        guard let path = getcwd(nil, 0) else { throw lastError("getcwd") }
        defer { free(path) }
        return try text(path, of: "getcwd")
    }

    /// The path that a link contains.
    static func target(ofLink path: String) throws(SystemCallError) -> String {
        // One byte more than is read stays zero, and ends the text.
        var content = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = try retrying("readlink", at: path) { readlink(path, &content, Int(PATH_MAX)) }
        let bytes = content.prefix(Int(count)).map { UInt8(bitPattern: $0) }
        guard let text = String(validUTF8: bytes) else {
            throw SystemCallError(call: "readlink", errorNumber: EILSEQ, path: path)
        }
        return text
    }

    /// The text that a call of the system returned.
    ///
    /// Paths are bytes. If they are not UTF-8 this throws, because repaired ones could be the path of another
    /// file.
    package static func text(_ bytes: UnsafePointer<CChar>, of call: StaticString) throws(SystemCallError)
        -> String
    {
        guard let text = String(validatingCString: bytes) else {
            throw SystemCallError(call: call.description, errorNumber: EILSEQ)
        }
        return text
    }
}
