/// What stands at a path, with everything in it: listed once, then copied, synced or removed.
///
/// Links in a tree are never followed. The path to a tree's top is taken as it is, with the links of the folders that it leads through.
struct FileTree {
    struct Entry {
        /// The path from the top on: empty for the top itself, and else with a slash first.
        let path: String
        let status: FileStatus
    }

    let top: String

    /// Each folder comes before what is in it; none where nothing stands at the top.
    private(set) var entries: [Entry] = []

    /// Lists what can be copied and put back.
    init(toCopy top: String) throws(SystemCallError) {
        try self.init(top) { path, status, above throws(SystemCallError) in
            if status.kind == .other { throw Platform.unsupported(path) }
            let isTopFolder = path == top && status.kind == .directory
            if !isTopFolder, Platform.isMountPoint(path, status, above: above) {
                throw Platform.mounted(path)
            }
        }
    }

    /// Lists what stands there.
    init(_ top: String) throws(SystemCallError) {
        try self.init(top) { _, _, _ in }
    }

    /// `visit` gets each entry before it is looked into, with the device of its folder.
    private init(
        _ top: String,
        _ visit: (_ path: String, FileStatus, _ above: UInt64) throws(SystemCallError) -> Void
    ) throws(SystemCallError) {
        self.top = top
        guard let status = try Platform.status(top) else { return }
        let folder = try Platform.identity(ofFolder: FilePaths.parent(top))
        try visit(top, status, folder?.device ?? status.identity.device)
        entries.append(Entry(path: "", status: status))
        var index = 0
        while index < entries.count {
            let entry = entries[index]
            index += 1
            if entry.status.kind != .directory { continue }
            let folder = top + entry.path
            let names = try Platform.at(folder) { () throws(SystemCallError) in
                try Platform.names(in: folder, strictly: true)
            }
            for name in names {
                let path = entry.path + "/" + name
                // Another process may have removed it meanwhile, as a connection to a database removes files.
                guard let status = try Platform.status(top + path) else { continue }
                try visit(top + path, status, entry.status.identity.device)
                entries.append(Entry(path: path, status: status))
            }
        }
    }

    /// Lists what is to be removed, and lets its owner do so; throws where something is mounted in it.
    init(toRemove top: String) throws(SystemCallError) {
        try self.init(top) { path, status, above throws(SystemCallError) in
            if Platform.isMountPoint(path, status, above: above) { throw Platform.mounted(path) }
            // A folder can't be listed or emptied by its owner without the rights to it.
            if status.kind == .directory, status.permissions & 0o700 != 0o700 {
                try Platform.setPermissions(path, status.permissions | 0o700)
            }
        }
    }

    func remove() throws(SystemCallError) {
        for entry in entries.reversed() {
            do throws(SystemCallError) {
                if entry.status.kind == .directory {
                    try Platform.removeFolder(top + entry.path)
                } else {
                    try Platform.removeFile(top + entry.path)
                }
            } catch {
                if !error.isAbsent { throw error }
            }
        }
    }

    /// The path of a manager's state in the tree, if there is one.
    var state: String? {
        let suffix = StateLocation.suffix.description.utf8.reversed()
        let files = entries.lazy.filter { $0.status.kind == .file }.map { top + $0.path }
        return files.first { $0.utf8.reversed().starts(with: suffix) }
    }
}

extension FileTree {
    /// Copies the tree to a place where nothing stands, with owners, rights, extended attributes and times.
    func copy(to target: String, _ progress: inout CopyProgress) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        var isCloning = true
        for entry in entries {
            let (path, copy) = (top + entry.path, target + entry.path)
            try progress.reach(path)
            progress.add(CopyProgress.costOfEntry)
            switch entry.status.kind {
            case .directory: try Platform.makeDirectory(copy)
            case .link: try Platform.copyLink(path, to: copy, entry.status)
            case .file, .other:
                try Platform.copyFile(path, to: copy, buffer, isCloning: &isCloning) { count in
                    progress.add(UInt64(count))
                    try progress.reach(path)
                }
            }
        }
        // Last, since each new file changes its folder's time, and a folder may take no file with the rights that it gets.
        for entry in entries.reversed() where entry.status.kind == .directory {
            try Platform.copyAttributes(ofFolder: top + entry.path, to: target + entry.path)
        }
    }
}
