/// Detects the state files of managers among a user's files.
///
/// Checking the file name isn't enough, because a file of the user may have the name of a state file.
enum StateRecognition {
    /// True if the item at `path` is a manager's state file, or a folder that contains one at any depth.
    static func containsState(at path: String) throws(SystemCallError) -> Bool {
        try containsState(at: Array(path.utf8CString), path: path)
    }

    /// True if the item at a path is a manager's state file, or a folder that contains one at any depth.
    ///
    /// `bytes` is the path as a NUL-terminated C string, which need not be UTF-8. `path` is the path in error
    /// messages. Folders that can't be read are made readable: a restore calls this function for items that
    /// it has replaced and is about to remove.
    static func containsState(at bytes: [CChar], path: String) throws(SystemCallError) -> Bool {
        var isFound = false
        try TreeWalk.visit(bytes, path: path) { entry, moment throws(SystemCallError) in
            if isFound { return false }
            if moment == .entering { try Platform.makeWritable(entry) }
            if moment == .file, entry.status.kind == .file, let name = managerName(ofFile: entry.path) {
                let content = try Platform.contents(of: entry, limit: StateFile.sizeLimit)
                isFound = content.map { isState($0, of: name) } ?? false
            }
            return true
        }
        return isFound
    }

    /// True if the regular file at `path` is a manager's state file.
    static func isState(file path: String) throws(SystemCallError) -> Bool {
        guard let name = managerName(ofFile: path) else { return false }
        let content = try Platform.contents(ofFile: path, limit: StateFile.sizeLimit)
        return content.map { isState($0, of: name) } ?? false
    }

    /// The name of the manager, if `path` has the file name of a manager's state; otherwise `nil`.
    private static func managerName(ofFile path: String) -> String? {
        let suffix = StateLocation.suffix.description
        let name = FilePaths.last(path)
        return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : nil
    }

    /// True if `text` is a manager's state: it contains a format and the manager's name, which is also in the
    /// file's name.
    ///
    /// A state that is damaged after these first two members counts too, because a person may want to repair
    /// it.
    private static func isState(_ text: [UInt8], of name: String) -> Bool {
        do throws(JSONError) {
            let json = try JSON.read(text)
            _ = try json.requiredMember("format").count()
            return try FilePaths.isSame(json.requiredMember("name").string(), name)
        } catch {
            let start = Array("{\n  \"format\" : ".utf8)
            if !text.starts(with: start) { return false }
            let rest = text.dropFirst(start.count).drop { 0x30...0x39 ~= $0 }
            return rest.starts(with: Array(",\n  \"name\" : \(name.quoted),".utf8))
        }
    }
}
