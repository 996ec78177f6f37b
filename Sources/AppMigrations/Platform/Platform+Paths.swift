import AppMigrationsSystem

/// Resolves paths and links.
extension Platform {
    /// The absolute path of an existing item, with all links resolved.
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

    /// The path that a system call returned, as text.
    ///
    /// If its bytes aren't UTF-8, this throws, because a repaired path could lead to another file.
    package static func text(_ bytes: UnsafePointer<CChar>, of call: StaticString) throws(SystemCallError)
        -> String
    {
        guard let text = String(validatingCString: bytes) else {
            throw SystemCallError(call: call.description, errorNumber: EILSEQ)
        }
        return text
    }
}
