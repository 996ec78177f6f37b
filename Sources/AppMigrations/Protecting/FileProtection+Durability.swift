/// Syncs the work of a closure to disk, before anything says that it is done.
extension FileProtection {
    /// Syncs what stands at the protected paths to disk, and the folders above them.
    ///
    /// A save of the state commits everything that the file system has gathered, and the names of files can be part of that
    /// before their contents are. So a power cut after the record could leave files that are empty, or not migrated at all.
    func synchronize() throws(FileFailure) {
        try FileFailure.at(location.directory) {
            try FileTree.synchronizeWork(paths.map(\.canonical), upTo: stateFolder, by: lock)
        }
    }
}

/// A file or folder that something failed at, and why.
///
/// The caller adds for which manager and migration.
struct FileFailure: Error {
    let path: String
    let cause: any Error

    /// Explains what `body` throws: with the path of the failed call, or with `path`.
    static func at<Value>(_ path: String, _ body: () throws -> Value) throws(FileFailure) -> Value {
        do {
            return try body()
        } catch let failure as FileTree.Failure {
            throw FileFailure(path: failure.path, cause: failure.cause)
        } catch {
            throw FileFailure(path: path, cause: error)
        }
    }
}

extension FileTree {
    /// Syncs what stands at paths without links to disk, with what SQLite keeps beside it and the folders above.
    static func synchronizeWork(_ paths: [String], upTo stateFolder: String, by lock: FileLock?) throws {
        let places = paths.flatMap { path in FileSnapshot.companions.map { Place(path: path + $0) } }
        try synchronize(places, by: lock)
        for path in paths { try synchronizeFolders(from: FilePaths.parent(path), upTo: stateFolder) }
    }

    /// Makes the names in a folder durable, and the folder's own name in the one above, up to the folder that holds the
    /// state too: a change above that folder would have moved the state.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronizeDirectory(folder)
            } catch {
                // The folder above shows that a folder went, or became a file. A folder that this user may not
                // write to holds no name that the closure made or removed.
                let isGone = [Platform.noEntry, Platform.notADirectory].contains(error.errorNumber)
                if !isGone, try Platform.mayWrite(folder) { throw Failure(cause: error, path: folder) }
            }
            if FilePaths.contains(folder, stateFolder) { return }
            folder = FilePaths.parent(folder)
        }
    }
}
