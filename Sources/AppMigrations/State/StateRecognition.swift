/// Recognizes the states of managers among the files of a user.
///
/// A name isn't enough, because a file of the user may have the name of a state.
enum StateRecognition {
    /// True if a file at a path, or below it, is the state of a manager.
    static func containsState(at path: String) throws(SystemCallError) -> Bool {
        try containsState(at: Array(path.utf8CString), path: path)
    }

    /// The same for a path that may not be UTF-8 and ends with a NUL; `path` is that path as errors write it.
    ///
    /// It is asked about items that a restore replaced and is going to remove. So folders that can't be read
    /// are made readable.
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

    /// True if a regular file is the state of a manager.
    static func isState(file path: String) throws(SystemCallError) -> Bool {
        guard let name = managerName(ofFile: path) else { return false }
        let content = try Platform.contents(ofFile: path, limit: StateFile.sizeLimit)
        return content.map { isState($0, of: name) } ?? false
    }

    /// The name of the manager whose state a file with this name would be; `nil` for other names.
    private static func managerName(ofFile path: String) -> String? {
        let suffix = StateLocation.suffix.description
        let name = FilePaths.last(path)
        return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : nil
    }

    /// True if a text is the state of a manager: it has a format and the name of the manager, which is also
    /// in the file's name.
    ///
    /// A state that is damaged after its head counts too, because someone may want to repair it.
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
