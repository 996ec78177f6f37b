/// Syncs trees to disk: few files one by one, many by one call for all of their file system.
extension FileTree {
    /// Up to how many files are synced one by one.
    ///
    /// The call for all of a file system waits for what every other process has written there, which can be gigabytes. For
    /// so few files the wait for each of them is the shorter one, and it is bounded.
    static var fewFiles: Int { 32 }

    /// Syncs what stands at these places, and in it, to disk.
    ///
    /// `lock` was taken before anything was written: its file witnesses the errors of its file system since. What lies on
    /// another file system, or on one of an untried kind, is synced file by file.
    static func synchronize(_ places: [String], by lock: FileLock) throws(SystemCallError) {
        var trees: [FileTree] = []
        for place in places {
            do throws(SystemCallError) {
                trees.append(try FileTree(place))
            } catch {
                // A closure can leave a folder that its owner may not list: all of its file system is synced then.
                if !Platform.forbids(error) { throw error }
                try Platform.synchronizeFileSystem(of: FilePaths.parent(place), instead: error)
            }
        }
        let device = lock.identity.device
        let files = trees.reduce(0) { count, tree in
            count + tree.entries.count { $0.status.kind == .file && $0.status.identity.device == device }
        }
        let isFlushed = files > fewFiles ? try lock.flushFileSystem() : false
        for tree in trees { try tree.synchronize(but: isFlushed ? device : nil) }
    }

    /// Syncs each file and folder, but those on the device that is `synced`.
    func synchronize(but synced: UInt64? = nil) throws(SystemCallError) {
        for entry in entries.reversed() where entry.status.identity.device != synced {
            if entry.status.kind != .directory, entry.status.kind != .file { continue }
            do throws(SystemCallError) {
                // A drive has one cache for everything: the top, which comes last, brings all the files through it.
                try Platform.synchronize(entry: top + entry.path, throughCache: entry.path.isEmpty)
            } catch {
                if !error.isAbsent { throw error }
            }
        }
    }

    /// Syncs what stands at paths without links to disk, with what SQLite keeps beside it and the folders above.
    static func synchronizeWork(
        _ paths: [String],
        upTo stateFolder: String,
        by lock: FileLock
    ) throws(SystemCallError) {
        try synchronize(paths.flatMap { path in Snapshot.companions.map { path + $0 } }, by: lock)
        for path in paths { try synchronizeFolders(from: FilePaths.parent(path), upTo: stateFolder) }
    }

    /// Makes the names in a folder durable, and the folder's own name in the one above, up to the folder that holds the
    /// state too: a change above that folder would have moved the state.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws(SystemCallError) {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronizeDirectory(folder)
            } catch {
                // The folder above shows that a folder went, or became a file. A folder that this user may not
                // write to holds no name that the closure made or removed.
                if !error.isAbsent, try Platform.mayWrite(folder) { throw error.at(folder) }
            }
            if FilePaths.contains(folder, stateFolder) { return }
            folder = FilePaths.parent(folder)
        }
    }
}
