extension MigrationContext {
    /// Syncs files and folders to disk, so that a power cut after the record can't take them back.
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
    /// Name the folder, not each of its files. A folder is synced with everything in it, a link as what it leads to, and a file
    /// with what SQLite keeps beside it. The folders above are synced too, so that new names and removed ones are durable as well.
    /// Where the closure removed something, name the folder that held it. What a database committed with `synchronous=FULL` needs
    /// no call.
    ///
    /// - Parameter paths: Paths of files and folders, absolute or relative to the working directory.
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`, naming the path. Let the closure throw it: the migration
    ///   runs again then.
    public func synchronize(_ paths: [String]) throws(MigrationError) {
        for path in paths { try synchronize(one: path) }
    }

    /// Syncs files and folders to disk; the same as ``synchronize(_:)-([String])``.
    public func synchronize(_ paths: String...) throws(MigrationError) { try synchronize(paths) }

    private func synchronize(one path: String) throws(MigrationError) {
        if path.isEmpty || path.utf8.contains(0) || path.hasPrefix("file:") {
            let reason: Message = "\(path.quoted): it is not the path of a file or folder"
            throw .unsynchronized(path, reason, location, version)
        }
        do throws(SystemCallError) {
            let stateFolder = try Platform.resolved(location.directory)
            // realpath(3) makes a path absolute, and fails where nothing stands.
            try FileTree.synchronizeWork([try Platform.resolved(path)], upTo: stateFolder, by: lock)
            // A link's own name stands in another folder than the file that the link leads to.
            let folder = path.utf8.contains(0x2F) ? FilePaths.parent(path) : "."
            try FileTree.synchronizeFolders(from: try Platform.resolved(folder), upTo: stateFolder)
        } catch {
            let reason: Message =
                error.errorNumber == Platform.noEntry
                ? "\(path.quoted): nothing is there; after a removal name the folder that held it"
                : "\(error)"
            throw .unsynchronized(error.path ?? path, underlying: error, reason, location, version)
        }
    }
}
