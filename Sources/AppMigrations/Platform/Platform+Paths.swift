import AppMigrationsSystem

/// Resolves paths and links.
extension Platform {
    /// The absolute path of an existing item, with all links resolved.
    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw lastError("realpath", at: path) }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    /// True if the link at `path` has an absolute path, and leads into one of `folders`.
    ///
    /// Only its text is looked at. What it leads to may be on a disk that doesn't answer.
    static func leadsByAbsolutePath(
        _ path: String,
        into folders: [String]
    ) throws(SystemCallError) -> Bool {
        let content = try content(ofLink: path)
        guard content[0] == 0x2F else { return false }
        let target = String(decoding: content.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let plain = "/" + FilePaths.components(target).joined(separator: "/")
        return folders.contains { FilePaths.contains($0, path: plain) }
    }

    /// The path to which a link leads, as the link contains it, with a zero byte at its end.
    static func content(ofLink path: String) throws(SystemCallError) -> [CChar] {
        var content = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try retrying("readlink", at: path) { readlink(path, &content, content.count) }
        return content[..<count] + [0]
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
