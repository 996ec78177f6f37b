/// What brings the work of a closure to the medium before anything says that it is done.
extension FileProtection {
    /// Brings what stands at the protected paths, and the folders above them, to the medium.
    ///
    /// A save of the state commits what the file system has gathered, and the names of files may be part of that before
    /// their contents are: a power cut after the record could leave files that are empty, or not migrated at all.
    func synchronize(_ location: StateLocation, _ version: AppVersion) throws(MigrationError) {
        for path in canonicals {
            do {
                try FileTree.synchronizeWork(path, upTo: stateFolder)
            } catch let failure as FileTree.Failure {
                throw .notSynchronized(failure.path, failure.cause, location, version)
            } catch {
                throw .notSynchronized(path, error, location, version)
            }
        }
    }
}

extension MigrationContext {
    /// Brings files and folders to the medium, so that a power cut after the record can't take them back.
    ///
    /// The library does this for what `protecting:` names. A closure that changes other files calls it at its end, before it
    /// returns:
    ///
    /// ```swift
    /// try migrations.whenMigrating(toVersion: "1.1") { context in
    ///     try moveArchiveToFolders()
    ///     try context.synchronize(libraryFolder)
    /// }
    /// ```
    ///
    /// A folder is synchronized with everything in it, a link as what it leads to, a file with what SQLite keeps beside it,
    /// and the folders above too, so that new names and removed ones are durable as well. Where the closure
    /// removed something, name the folder that held it. What a database committed with `synchronous=FULL` needs no call.
    ///
    /// - Parameter paths: Paths of files and folders, absolute or relative to the working directory.
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`, naming the path. Let the closure throw it: the migration
    ///   runs again then.
    public func synchronize(_ paths: String...) throws(MigrationError) {
        for path in paths { try synchronize(path) }
    }

    private func synchronize(_ path: String) throws(MigrationError) {
        if path.isEmpty || path.utf8.contains(0) || path.hasPrefix("file:") {
            throw .unsynchronizable(path, "it is not the path of a file or folder", location, version)
        }
        do {
            let stateFolder = try FileTree.at(location.directory) { () throws(SystemCallError) in
                try Platform.resolved(location.directory)
            }
            // realpath(3) makes a path absolute, and fails where nothing stands.
            let resolved = try FileTree.at(path) { () throws(SystemCallError) in try Platform.resolved(path) }
            try FileTree.synchronizeWork(resolved, upTo: stateFolder)
            // A link's own name stands in another folder than the file's that it leads to.
            let folder = path.utf8.contains(0x2F) ? FileProtection.parent(path) : "."
            let holder = try FileTree.at(path) { () throws(SystemCallError) in try Platform.resolved(folder) }
            try FileTree.synchronizeFolders(from: holder, upTo: stateFolder)
        } catch let failure as FileTree.Failure {
            if failure.cause.errorNumber == Platform.noEntry {
                let reason = "nothing is there; after a removal name the folder that held it"
                throw .unsynchronizable(path, reason, location, version)
            }
            throw .notSynchronized(failure.path, failure.cause, location, version)
        } catch {
            throw .notSynchronized(path, error, location, version)
        }
    }
}

extension FileTree {
    /// Brings what stands at a path without links to the medium, with what SQLite keeps beside it and the folders above.
    static func synchronizeWork(_ path: String, upTo stateFolder: String) throws {
        for companion in FileSnapshot.companions { try synchronize(path + companion) }
        try synchronizeFolders(from: FileProtection.parent(path), upTo: stateFolder)
    }

    /// Makes the names in a folder durable, and the folder's own name in the one above, up to the folder that holds the
    /// state too: to change what lies above that one would have moved the state.
    static func synchronizeFolders(from folder: String, upTo stateFolder: String) throws {
        var folder = folder
        while true {
            do throws(SystemCallError) {
                try Platform.synchronizeDirectory(folder)
            } catch {
                // A folder that went, or became a file, has its trace in the one above. A folder that this user may not
                // write to holds no name that the closure made or removed.
                let isGone = [Platform.noEntry, Platform.notADirectory].contains(error.errorNumber)
                if !isGone, try Platform.mayWrite(folder) { throw Failure(cause: error, path: folder) }
            }
            if FileProtection.contains(folder, stateFolder) { return }
            folder = FileProtection.parent(folder)
        }
    }
}
