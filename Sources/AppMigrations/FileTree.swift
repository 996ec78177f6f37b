/// Files and folders as wholes: copied, made durable, measured, removed.
///
/// Links are never followed, and no tree is too deep for a thread's stack.
enum FileTree {
    /// A call of the system that failed, and on which file.
    struct Failure: Error {
        let cause: SystemCallError
        let path: String
    }

    /// Something that is neither file, folder nor link.
    struct SpecialFile: Error {
        let path: String
    }

    /// Something in a tree, and where it is as seen from the tree's top: nothing for the top, else with a leading slash.
    struct Entry {
        let place: String
        let status: FileStatus
    }

    /// What stands at `path`; `nil` when nothing does.
    static func status(_ path: String) throws -> FileStatus? {
        do {
            return try FileStatus(ofEntry: path)
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return nil
            }
            throw Failure(cause: error, path: path)
        }
    }

    /// Visits what stands at `path` and in it, each folder before what it holds; nothing where nothing stands.
    static func walk(_ path: String, _ visit: (Entry) throws -> Void) throws {
        var waiting = [""]
        while let place = waiting.popLast() {
            let here = path + place
            guard let status = try status(here) else { continue }
            try visit(Entry(place: place, status: status))
            guard status.kind == .directory else { continue }
            let names = try at(here) { () throws(SystemCallError) in try Platform.names(in: here) }
            waiting += names.map { "\(place)/\($0)" }
        }
    }

    /// Copies what stands at `source`, if anything does, to `target`, where nothing stands, with permissions and times.
    ///
    /// `beforeCopying` is called before each file whose blocks can't be shared.
    static func copy(_ source: String, to target: String, beforeCopying: () throws -> Void = {}) throws {
        var folders: [Entry] = []
        var isPresent = false
        try walk(source) { entry in
            let (old, new) = (source + entry.place, target + entry.place)
            switch entry.status.kind {
            case .other: throw SpecialFile(path: old)
            case .link:
                try at(old) { () throws(SystemCallError) in
                    try Platform.copyLink(old, to: new)
                    try Platform.setTimes(new, as: entry.status)
                }
            case .file:
                try copyFile(old, to: new, beforeCopying)
                try at(new) { () throws(SystemCallError) in
                    try Platform.setAttributes(new, as: entry.status)
                }
            case .directory:
                folders.append(entry)
                if entry.place.isEmpty, try status(new) != nil { return isPresent = true }
                try at(new) { () throws(SystemCallError) in try Platform.makeDirectory(new) }
            }
        }
        // Last and from within: what a folder gets changes its time, and one without rights takes nothing more.
        for folder in folders.reversed() {
            let path = target + folder.place
            try at(path) { () throws(SystemCallError) in
                if isPresent, folder.place.isEmpty {
                    try Platform.setAttributes(ofPresent: path, as: folder.status)
                } else {
                    try Platform.setAttributes(path, as: folder.status)
                }
            }
        }
    }

    /// Makes `target` what `source` is.
    ///
    /// A folder stays the one it was, since the one above it may not be this user's, or be another file
    /// system's; what holds the target is made again if it went with it.
    static func replace(_ target: String, with source: String) throws {
        guard let model = try status(source) else { return try remove(target) }
        let parent = FileProtection.parent(target)
        if try status(parent) == nil {
            try at(parent) { () throws(SystemCallError) in try Platform.makeDirectories(parent) }
        }
        let isFolder = try model.kind == .directory && status(target)?.kind == .directory
        try remove(target, keepingTop: isFolder)
        try copy(source, to: target)
    }

    private static func copyFile(_ source: String, to target: String, _ beforeCopying: () throws -> Void)
        throws
    {
        let isShared = try at(source) { () throws(SystemCallError) in
            try Platform.cloneFile(source, to: target)
        }
        if isShared { return }
        let reader = try at(source) { () throws(SystemCallError) in try Platform.openToRead(source) }
        defer { Platform.closeAfterReading(reader) }
        let writer = try at(target) { () throws(SystemCallError) in try Platform.createExclusively(target) }
        do {
            let isCloned = try at(target) { () throws(SystemCallError) in
                try Platform.clone(reader, to: writer)
            }
            if !isCloned {
                try beforeCopying()
                try at(target) { () throws(SystemCallError) in try Platform.copyContent(reader, to: writer) }
            }
        } catch {
            Platform.closeAfterReading(writer)
            throw error
        }
        try at(target) { () throws(SystemCallError) in try Platform.closeAfterWriting(writer) }
    }

    /// Brings a tree to the medium.
    ///
    /// The whole of it is written first, so that one journal commit serves many files.
    static func synchronize(_ path: String) throws {
        var entries: [Entry] = []
        try walk(path) { entries.append($0) }
        for entry in entries.reversed() {
            let path = path + entry.place
            switch entry.status.kind {
            case .link, .other: continue
            case .directory:
                try at(path) { () throws(SystemCallError) in try Platform.synchronizeDirectory(path) }
            case .file:
                try at(path) { () throws(SystemCallError) in
                    let descriptor = try Platform.openToRead(path)
                    defer { Platform.closeAfterReading(descriptor) }
                    try Platform.synchronize(descriptor)
                }
            }
        }
    }

    /// Removes what stands at `path`, if anything does, or only what is in it.
    static func remove(_ path: String, keepingTop: Bool = false) throws {
        var folders: [String] = []
        try walk(path) { entry in
            let path = path + entry.place
            if entry.status.kind == .directory {
                try at(path) { () throws(SystemCallError) in
                    try Platform.makeAccessible(path, entry.status)
                    try Platform.renameOthers(in: path)
                }
                folders.append(path)
            } else {
                try removing(path) { () throws(SystemCallError) in try Platform.removeFile(path) }
            }
        }
        for folder in folders.dropFirst(keepingTop ? 1 : 0).reversed() {
            try removing(folder) { () throws(SystemCallError) in try Platform.removeDirectory(folder) }
        }
    }

    /// Somebody else may have removed it meanwhile, as a connection to a database does with the files beside it.
    private static func removing(_ path: String, _ body: () throws(SystemCallError) -> Void) throws {
        do throws(SystemCallError) {
            try body()
        } catch {
            if error.errorNumber != Platform.noEntry { throw Failure(cause: error, path: path) }
        }
    }

    static func at<Value>(_ path: String, _ body: () throws(SystemCallError) -> Value) throws(Failure)
        -> Value
    {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw Failure(cause: error, path: path)
        }
    }
}
