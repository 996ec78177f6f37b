// Restoring the protected files from their copies.
extension SavedFiles {
    /// Restores every protected path and syncs the files to disk.
    ///
    /// After a crash, the replaced files stay in the snapshot in two cases: if `keepsReplaced` is true, or if
    /// the process that made the snapshot had the option `keepsReplacedFiles`. In both cases, this function
    /// creates a marker in the snapshot, which tells a later call of ``discard()`` to keep the files. That
    /// call may be in another process, because this process may be killed before it.
    ///
    /// `report` is called with the progress, but only if files have to be copied to another file system.
    ///
    /// - Returns: The paths to which replaced files were renamed if they must be kept and could not be moved
    ///   into the snapshot.
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` whose path is set.
    func restore(
        afterCrash isAfterCrash: Bool = false,
        keepingReplaced keepsReplaced: Bool = false,
        reportingTo report: @escaping CopyReport
    ) throws -> [String] {
        let stateFolder = try Platform.resolved(location.directory)
        let list = try trustedList()
        let places = list.places(from: stateFolder)
        let isStateMoved = !FilePaths.isSame(list.stateFolder, stateFolder)
        if isStateMoved { try refuseSeparated(list, restoredTo: places) }
        // Check every path first, so that no file is changed if one of them can't be restored.
        for (index, place) in places.enumerated() {
            try requireFolders(above: place, copies: "\(folder)/\(index)")
            if try ProtectedPaths.holdsState(place, of: location, in: stateFolder) {
                throw refusal(at: place, because: "the state directory is in \(place)")
            }
            if try ProtectedPaths.mountDistance(of: place, upTo: stateFolder)
                != list.paths[index].mountDistance
            {
                throw refusal(
                    at: place,
                    because:
                        "a file system was mounted or unmounted at \(place) since the copies were made; undo that"
                )
            }
            try refuseIncompleteCopies("\(folder)/\(index)", of: place)
        }
        // The process that saved the state may have crashed before the state was synced to disk. Without this
        // sync, a power failure during the restore could bring back an older state, which doesn't say that
        // the files have to be restored.
        try Platform.synchronize(location.directory)
        let marker = folder + "/" + Self.replacedFilesMarker
        var isMarked = try Platform.exists(at: marker)
        if isAfterCrash, !isMarked {
            let request = folder + "/" + Snapshot.keepRequestMarker
            if try Platform.exists(at: request) {
                // This renames a file, which needs no space, because the closure may have filled the disk.
                try Platform.replace(marker, with: request)
                isMarked = true
            } else if keepsReplaced {
                try Platform.makeMark(marker)
                isMarked = true
            }
            if isMarked { try Platform.synchronize(folder) }
        }
        var renamedInPlace: [String] = []
        for (index, place) in places.enumerated() {
            let count = Double(places.count)
            var pathRestore = PathRestore(
                of: place,
                from: "\(folder)/\(index)",
                keepingReplaced: isStateMoved || isMarked,
                reportingTo: { report((Double(index) + $0) / count, $1) }
            )
            try pathRestore.run()
            renamedInPlace += pathRestore.renamedInPlace
            try FileTree.synchronizeFolders(from: [FilePaths.parent(place)], upTo: stateFolder)
            // Remove the replaced files now: they may fill the disk, and the caller has to save the state
            // next.
            do {
                try pathRestore.removeReplaced()
            } catch {
                // This error is ignored. The whole snapshot is removed later. That fails at the same files
                // and sends an event with the error.
            }
        }
        return renamedInPlace
    }

    /// Reads the list of the paths, and throws an error if it doesn't belong to this user and this manager.
    private func trustedList() throws -> SnapshotList {
        try Snapshot.refuseForeign(folder)
        guard let list = try SnapshotList.read(in: folder) else {
            let listExists = try Platform.exists(at: folder + "/list")
            throw copiesMissing(
                "\(folder)/list is \(listExists ? "damaged, or was written by another release" : "missing")"
            )
        }
        if !FilePaths.isSame(list.manager, location.name) {
            throw copiesMissing("\(folder)/list belongs to manager \(list.manager.quoted)")
        }
        return list
    }

    /// Throws an error if a folder above a path is now something else, for example a file or a link.
    private func requireFolders(above place: String, copies: String) throws {
        // If the entries of a protected folder are restored one by one, that folder itself is checked too.
        // The slash at the end makes it the first folder that the loop checks.
        var above = try Platform.exists(at: copies + "/item.entries") ? place + "/" : place
        while above != "/" {
            above = FilePaths.parent(above)
            guard let kind = try Platform.status(above)?.kind, kind != .directory else { continue }
            // `above` is a file now, so nothing can exist at the path. If nothing existed at the path when
            // the copies were made either, nothing has to be restored: `above` may have been a file already.
            if kind != .link, try !containsItem(copies) { continue }
            throw refusal(
                at: above,
                because: "\(above) was a folder when the copies were made; put that folder back in its place"
            )
        }
    }

    /// True if the snapshot's folder for a path contains a copy; false if it contains only the markers that
    /// nothing existed at the path.
    private func containsItem(_ copies: String) throws(SystemCallError) -> Bool {
        try Platform.names(in: copies).contains { $0.hasPrefix("item") }
    }

    /// Throws an error if the copies are incomplete: programs that clean up old files may have removed some.
    private func refuseIncompleteCopies(_ copies: String, of place: String) throws {
        if try Platform.exists(at: copies + PathRestore.begun) { return }
        if try !Platform.exists(at: copies + "/item"), try !Platform.exists(at: copies + "/absent") {
            throw copiesMissing("the copy of \(place) is not in \(copies)")
        }
        let count = try Snapshot.companions.reduce(0) { count, companion in
            try count + FileTree(at: copies + "/item" + companion).entries.count
        }
        if try !Platform.exists(at: "\(copies)/entries-\(count)") {
            throw copiesMissing(
                "the copy of \(place) in \(copies) no longer has as many files and folders as when it was made"
            )
        }
    }

    private func refusal(at path: String, because reason: Message) -> MigrationError {
        location.protectionError(.restoring, of: version, at: path, reason: reason)
    }

    private func copiesMissing(_ reason: Message) -> MigrationError {
        location.protectionError(
            .findingCopies,
            of: version,
            at: folder,
            reason: "the state says that files are to be restored, and \(reason)"
        )
    }

    /// Makes the error for a missing snapshot while the state says that a restore is pending.
    static func missingError(in location: StateLocation, of version: AppVersion) -> MigrationError {
        location.protectionError(
            .findingCopies,
            of: version,
            at: location.snapshot,
            reason: "the state says that files are to be restored, and \(location.snapshot) is missing"
        )
    }
}

/// Handles a state directory that is no longer at the path that the list names.
extension SavedFiles {
    /// Throws an error if the state directory was moved or copied and the protected files were not.
    ///
    /// An app's folders can move as a whole, so the list has the paths relative to the state directory. If
    /// the state was moved without the files, these paths lead to places where the files never were, and
    /// where other files may be. So the list also has the identity of the snapshot's folder, and of the
    /// folder above each path. They are compared with the current identities:
    /// - If both are as in the list, the state and the files were moved together.
    /// - If both are different, the state and the files were copied together.
    /// - If only one is different, the state and the files were separated, and this throws.
    private func refuseSeparated(_ list: SnapshotList, restoredTo places: [String]) throws {
        let isMoved = try Platform.identity(ofFolder: folder) == list.snapshot
        for (path, place) in zip(list.paths, places) {
            let isTogether = try isMoved ? wasMoved(path, to: place) : mayBeCopy(of: path, at: place)
            if isTogether { continue }
            let former = FilePaths.absolute(path.relative, from: list.stateFolder)
            throw refusal(
                at: place,
                because: """
                    the state was moved or copied from \(list.stateFolder) to \(location.directory) without \(former), which would be \
                    restored to \(place); move the state back, or move the files too
                    """
            )
        }
    }

    /// True if the folder above the path, or the item at the path, has the identity that the list has for it.
    ///
    /// The closure may have removed the nearest folder. In that case, the nearest folder that still exists is
    /// compared.
    private func wasMoved(_ path: SnapshotList.Path, to place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        if let level = found.firstIndex(where: { $0 != nil }), found[level] == path.folders[level] {
            return true
        }
        guard let identity = path.identity else { return false }
        return try Platform.statusIfPresent(place)?.identity == identity
    }

    /// True if the app's data may have been copied to this place after the list was written.
    ///
    /// A copied folder has a new identity (device and inode). So this looks at the nearest folder above the
    /// path that existed when the list was written. It is true if that folder exists at the new place with
    /// another identity than in the list. If the folder is missing there, the data wasn't copied completely,
    /// so it is false.
    private func mayBeCopy(of path: SnapshotList.Path, at place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        guard let level = path.folders.firstIndex(where: { $0 != nil }), let folder = found[level] else {
            return false
        }
        return folder != path.folders[level]
    }
}
