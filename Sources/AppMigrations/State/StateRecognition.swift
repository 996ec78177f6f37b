/// Tells the state of a manager, of any name, from other files: users have files of every name.
enum StateRecognition {
    /// True if something in the tree at a path, or that itself, is the state of a manager.
    static func isStateIn(_ path: String) throws(SystemCallError) -> Bool {
        try isStateIn(Array(path.utf8CString), path)
    }

    /// The same for a path of any bytes, with a NUL at their end; `text` is that path for people.
    ///
    /// It is asked about what a restore replaced and is to be removed, so folders without rights get them.
    static func isStateIn(_ path: [CChar], _ text: String) throws(SystemCallError) -> Bool {
        var isFound = false
        try TreeWalk.visit(path, text) { entry, moment throws(SystemCallError) in
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

    /// The name of the manager whose state would be in a file of that name.
    private static func managerName(ofFile path: String) -> String? {
        let suffix = StateLocation.suffix.description
        let name = FilePaths.last(path)
        return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : nil
    }

    /// A state says which format it has, and the name of its manager, which its file is named by.
    ///
    /// A state that is damaged after its head counts too: somebody may repair it.
    private static func isState(_ text: [UInt8], of name: String) -> Bool {
        do throws(MigrationError) {
            let json = try JSON.read(text, at: StateLocation(name: name, directory: "/"))
            _ = try json.needed("format").count()
            return try FilePaths.isSame(json.needed("name").text(), name)
        } catch {
            let start = Array("{\n  \"format\" : ".utf8)
            if !text.starts(with: start) { return false }
            let rest = text.dropFirst(start.count).drop { 0x30...0x39 ~= $0 }
            return rest.starts(with: Array(",\n  \"name\" : \(name.quoted),".utf8))
        }
    }
}
