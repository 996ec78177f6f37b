import AppMigrationsSystem

/// Resolves paths and links.
extension Platform {
    /// The absolute path of an existing item, with all links resolved.
    package static func resolved(_ path: String) throws(SystemCallError) -> String {
        guard let resolved = realpath(path, nil) else { throw lastError("realpath", at: path) }
        defer { free(resolved) }
        return try text(resolved, of: "realpath")
    }

    /// True if a link in a folder leads into the same folder by a path that begins outside of it.
    ///
    /// Two examples in the folder `/data/Notes` are `/data/Notes/v1` and `../Notes/v1`. In a copy of the
    /// folder, they would lead into the original. A link such as `v1` leads into the copy.
    ///
    /// `path` is the path of the link, and `names` are the paths of the folder: with links resolved, and as
    /// the app passes it.
    static func leadsOutAndBack(
        _ path: String,
        of folder: String,
        named names: [String]
    ) throws(SystemCallError) -> Bool {
        let content = try content(ofLink: path)
        let target = String(decoding: content.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isAbsolute = target.utf8.first == 0x2F
        let parts = FilePaths.components(target)
        // The number of folders between the link's target so far and `folder`. It is negative outside.
        var depth = FilePaths.components(path).count - FilePaths.components(folder).count - 1
        var leavesFolder = isAbsolute
        for part in parts where part != "." {
            depth += part == ".." ? -1 : 1
            if depth < 0 { leavesFolder = true }
        }
        if !leavesFolder { return false }
        let plain = FilePaths.absolute(target, from: isAbsolute ? "/" : FilePaths.parent(path))
        if names.contains(where: { FilePaths.contains($0, path: plain) }) { return true }
        // A folder above may have a second path, such as /var/home for /home. The target then has a component
        // with the name of `folder`. Only such targets are looked up, because others may be on a disk that
        // doesn't answer.
        if !parts.contains(where: { FilePaths.isSame($0, FilePaths.last(folder)) }) { return false }
        do throws(SystemCallError) {
            if try FilePaths.contains(folder, path: resolved(FilePaths.parent(plain))) { return true }
            return try FilePaths.contains(folder, path: resolved(plain))
        } catch {
            // What can't be reached now, the closure can't change either.
            if error.isMissingFile { return false }
            throw error
        }
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
