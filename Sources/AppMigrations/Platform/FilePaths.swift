/// Operations on paths.
///
/// They compare bytes and not strings. In a Swift string, a slash with a combining character after it is one
/// `Character`, which isn't a slash. And two strings that are equal in Swift can be the names of two files.
package enum FilePaths {
    /// The path relative to a folder, for example `../data/file`.
    ///
    /// Both paths must be absolute, with links resolved.
    static func relative(_ path: String, to folder: String) -> String {
        let path = components(path)
        let folder = components(folder)
        var shared = 0
        while shared < min(folder.count, path.count - 1), isSame(path[shared], folder[shared]) { shared += 1 }
        let upward = Array(repeating: "..", count: folder.count - shared)
        return (upward + path[shared...]).joined(separator: "/")
    }

    /// The absolute path for a path that is relative to a folder.
    ///
    /// The links in the folder's path must already be resolved.
    static func absolute(_ relative: String, from folder: String) -> String {
        var parts = components(folder)
        for component in components(relative) {
            if component == ".." { _ = parts.popLast() } else { parts.append(component) }
        }
        return "/" + parts.joined(separator: "/")
    }

    static func components(_ path: String) -> [String] {
        split(Array(path.utf8), at: 0x2F).filter { !$0.isEmpty }
    }

    /// The texts between the separators, empty texts included.
    static func split(_ bytes: [UInt8], at separator: UInt8) -> [String] {
        bytes.split(separator: separator, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The reason to refuse a path with percent escapes, such as `%20`.
    ///
    /// It is `nil` if the path has no percent escapes, or if an item with such a name already exists. In a
    /// `URL`, the folder `Application Support` is written `Application%20Support`. In a path, such an escape
    /// is almost always a mistake.
    static func escapes(_ path: String) throws(SystemCallError) -> Message? {
        let bytes = Array(path.utf8)
        let isDigit = { (index: Int) in Character(Unicode.Scalar(bytes[index])).isHexDigit }
        let last = bytes.indices.dropLast(2).last { bytes[$0] == 0x25 && isDigit($0 + 1) && isDigit($0 + 2) }
        guard let last else { return nil }
        let end = bytes[last...].firstIndex(of: 0x2F) ?? bytes.endIndex
        let part = String(decoding: bytes[..<end], as: UTF8.self)
        if try Platform.exists(at: part) { return nil }
        return """
            it has the escapes of a URL, and \(part) doesn't exist: pass path(percentEncoded: false) of the URL, or create that \
            folder first
            """
    }

    /// The reason to refuse a text that isn't a path; `nil` if it can be one.
    static func refusal(_ text: String) -> Message? {
        if text.isEmpty { return "it is empty" }
        if text.utf8.contains(0) { return "a path can't contain a NUL character" }
        if text.hasPrefix("file:") { return "it is a URL; pass its path(percentEncoded: false)" }
        if text.utf8.first != 0x7E { return nil }
        return """
            only a shell replaces ~ with the home folder; pass the whole path
            """
    }

    @inline(never)
    package static func parent(_ path: String) -> String {
        let bytes = Array(path.utf8)
        let slash = bytes.lastIndex(of: 0x2F) ?? 0
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }

    @inline(never)
    package static func last(_ path: String) -> String {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: 0x2F) else { return path }
        return String(decoding: bytes[(slash + 1)...], as: UTF8.self)
    }

    static func joined(_ folder: String, name: String) -> String {
        (folder == "/" ? "/" : folder + "/") + name
    }

    /// True if a path is the folder itself, or something inside it.
    static func contains(_ folder: String, path: String) -> Bool {
        isSame(path, folder) || begins(path, with: joined(folder, name: ""))
    }

    @inline(never)
    package static func isSame(_ one: String, _ two: String) -> Bool { Array(one.utf8) == Array(two.utf8) }

    @inline(never)
    static func begins(_ text: String, with start: String) -> Bool {
        Array(Array(text.utf8).prefix(start.utf8.count)) == Array(start.utf8)
    }
}
