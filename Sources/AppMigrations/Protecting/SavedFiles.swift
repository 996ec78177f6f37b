/// The copies in a snapshot whose closure has ended: they are restored, given up or removed, under the
/// state's lock.
///
/// A copy that is still in the snapshot isn't restored yet, and there is no other record of the progress. A
/// restore that is repeated touches nothing that was restored before, because the app may have written to it
/// since. ``PathRestore`` restores one path.
struct SavedFiles {
    let location: StateLocation
    let version: AppVersion?
    private let folder: String

    /// The copies of a state; `nil` if there is no snapshot.
    ///
    /// `version` is that of the migration that protected the files, for errors.
    init?(in location: StateLocation, of version: AppVersion?) throws(SystemCallError) {
        guard let folder = try location.existingSnapshot() else { return nil }
        self.location = location
        self.version = version
        self.folder = folder
    }

    /// The error for a state that asks for copies if there is no snapshot.
    static func missingError(in location: StateLocation, of version: AppVersion) -> MigrationError {
        location.protectionError(
            .findingCopies,
            of: version,
            at: location.snapshot,
            reason: "the state says that files are to be restored, and \(location.snapshot) is missing"
        )
    }

    /// Restores every path, durably.
    ///
    /// `report` gets the progress if files have to be copied to another file system.
    ///
    /// - Returns: The paths of replaced files that must be kept and could not be moved into the snapshot.
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    func restore(reportingTo report: @escaping CopyReport) throws -> [String] {
        let stateFolder = try Platform.resolved(location.directory)
        let list = try trustedList()
        let places = list.places(from: stateFolder)
        let isStateMoved = !FilePaths.isSame(list.stateFolder, stateFolder)
        if isStateMoved { try refuseSeparated(list, restoredTo: places) }
        // Everything is checked before anything is changed.
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
                        "a file system was mounted or unmounted there since the copies were made; undo that"
                )
            }
            try refuseIncompleteCopies("\(folder)/\(index)", of: place)
        }
        // The process that saved the intent may have died before the state was durable. Without this sync, a
        // power failure during the restore could bring back a state that doesn't ask for it.
        try Platform.synchronize(location.directory)
        var renamedInPlace: [String] = []
        for (index, place) in places.enumerated() {
            let count = Double(places.count)
            var path = PathRestore(
                of: place,
                from: "\(folder)/\(index)",
                keepingReplaced: isStateMoved,
                reportingTo: { report((Double(index) + $0) / count, $1) }
            )
            try path.run()
            renamedInPlace += path.renamedInPlace
            try FileTree.synchronizeFolders(from: FilePaths.parent(place), upTo: stateFolder)
            // The caller saves the state next. The replaced files may be what fills the disk, so they are
            // removed before that.
            do {
                try path.removeReplaced()
            } catch {
                // The removal of the snapshot reports files that can't be removed.
            }
        }
        return renamedInPlace
    }

    /// The list, if it is this user's and this manager's.
    private func trustedList() throws -> SnapshotList {
        try Snapshot.refuseForeign(folder)
        guard let list = try SnapshotList.read(in: folder) else {
            let isThere = try Platform.exists(at: folder + "/list")
            throw copiesMissing(
                "\(folder)/list is \(isThere ? "damaged, or was written by another release" : "missing")"
            )
        }
        if !FilePaths.isSame(list.manager, location.name) {
            throw copiesMissing("\(folder)/list belongs to manager \(list.manager.quoted)")
        }
        return list
    }

    /// Refuses a path if something other than a folder, for example a file or a link, is at the path of a
    /// folder above it.
    private func requireFolders(above place: String, copies: String) throws {
        // If a folder's entries are restored one by one, the folder itself has to be one too.
        var above = try Platform.exists(at: copies + "/item.entries") ? place + "/" : place
        while above != "/" {
            above = FilePaths.parent(above)
            guard let kind = try Platform.status(above)?.kind, kind != .directory else { continue }
            // Nothing can exist below a file. If nothing was at the path either, it may have been a file then.
            if kind != .link, try !containsItem(copies) { continue }
            throw refusal(
                at: above,
                because: "\(above) was a folder when the copies were made; put that folder back in its place"
            )
        }
    }

    /// True if a folder of copies contains one that belongs to the path, and not only marks that nothing was there.
    private func containsItem(_ copies: String) throws(SystemCallError) -> Bool {
        try Platform.names(in: copies).contains { $0.hasPrefix("item") }
    }

    /// Files that this library neither restores nor removes.
    struct Kept {
        /// The folder that contains them, or the path of the one that was kept.
        let path: String

        let reason: Reason
    }

    enum Reason {
        /// They are copies, and the state that asked for them was lost.
        case stateLost

        /// They were replaced by a restore, and contain the state of a manager.
        case holdsState

        /// They had to be kept for one of these reasons, and could not be moved into the snapshot, which is
        /// on another file system.
        case notMovable

        /// They were replaced by a restore after the state directory was moved from this path. So nobody
        /// knows what they are.
        case stateMoved(from: String)
    }

    /// Removes the snapshot, or moves it aside if it contains replaced files that must be kept.
    ///
    /// - Returns: The folder that was moved aside.
    func discard() throws(SystemCallError) -> Kept? {
        // If this isn't a folder, this library didn't make it. In a folder of another user, that user could
        // lead root elsewhere.
        try Snapshot.refuseForeign(folder)
        // The state that no longer asks for the copies may not be durable yet.
        try Platform.synchronize(location.directory)
        if let reason = try reasonToKeep() {
            return try keep(asOf: Platform.now).map { Kept(path: $0, reason: reason) }
        }
        try Platform.removeTree(folder)
        return nil
    }

    private func reasonToKeep() throws(SystemCallError) -> Reason? {
        var replaced: [String] = []
        for name in try Platform.names(in: folder) where name.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            replaced += try PathRestore.replacedPaths(in: folder + "/" + name)
        }
        if replaced.isEmpty { return nil }
        for path in replaced where try StateRecognition.containsState(at: path) { return .holdsState }
        let stateFolder = try Platform.resolved(location.directory)
        guard let list = try SnapshotList.read(in: folder), !FilePaths.isSame(list.stateFolder, stateFolder)
        else { return nil }
        return .stateMoved(from: list.stateFolder)
    }

    /// Moves the snapshot to a folder that no later call restores or removes, durably.
    ///
    /// If it can't be moved, a mark in it says so, and the next snapshot gets another name.
    ///
    /// The folder's name contains `time`. A caller that also saves the state passes the start of the
    /// interruption: if it was killed in between, the next call finds the same folder and continues.
    ///
    /// - Returns: That folder; `nil` if there are no copies.
    func keep(asOf time: Int64) throws(SystemCallError) -> String? {
        guard try Platform.status(folder)?.kind == .directory else {
            return try Self.lastKept(of: location, asOf: time)
        }
        var number = 1
        while try Platform.exists(at: location.keptCopies(from: time, number: number)) { number += 1 }
        let kept = location.keptCopies(from: time, number: number)
        do throws(SystemCallError) {
            try Platform.replace(kept, with: folder)
        } catch {
            try Platform.makeDirectory(folder + "/" + StateLocation.abandonedMark)
            try Platform.synchronize(folder)
            return folder
        }
        // This has to be durable before a state is saved that no longer asks for the copies. At their old
        // path they would be removed then.
        try Platform.synchronize(location.directory)
        return kept
    }

    /// The folder to which an earlier call, which was killed then, moved the copies; `nil` if there is none.
    static func lastKept(of location: StateLocation, asOf time: Int64) throws(SystemCallError) -> String? {
        var kept: String?
        var number = 1
        while try Platform.exists(at: location.keptCopies(from: time, number: number)) {
            kept = location.keptCopies(from: time, number: number)
            number += 1
        }
        return kept
    }

    /// Refuses copies from which entries are missing: programs that clean up old files may have removed them.
    private func refuseIncompleteCopies(_ copies: String, of place: String) throws {
        if try Platform.exists(at: copies + PathRestore.begun) { return }
        if try !Platform.exists(at: copies + "/item"), try !Platform.exists(at: copies + "/absent") {
            throw copiesMissing("the copy of \(place) is not in \(copies)")
        }
        let count = try Snapshot.companions.reduce(0) { count, companion in
            try count + FileTree(at: copies + "/item" + companion).entries.count
        }
        if try !Platform.exists(at: "\(copies)/entries-\(count)") {
            throw copiesMissing("files of the copy of \(place) were removed from \(copies), or added to it")
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
}

/// A state directory that is at another place than the list says.
extension SavedFiles {
    /// Refuses a restore if the state directory was moved or copied and the protected files were not.
    ///
    /// An app's folders can move as a whole, so the list has the paths as seen from the state directory. If
    /// the state and the files went different ways, these paths lead to places where the files never were,
    /// and where other files may be. So identities decide: that of the snapshot's folder, and that of the
    /// folder above each path. If both are unchanged, everything was moved. If both are new, everything was
    /// copied. If only one of them is new, state and files were separated.
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

    /// True if the nearest folder above the path is the listed one, or if the item at the path itself is.
    ///
    /// The closure may have removed the nearest folder. Then the next one above that exists is compared.
    private func wasMoved(_ path: SnapshotList.Path, to place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        if let level = found.firstIndex(where: { $0 != nil }), found[level] == path.folders[level] {
            return true
        }
        guard let identity = path.identity else { return false }
        return try Platform.statusIfPresent(place)?.identity == identity
    }

    /// True if the nearest folder above the path that existed when the list was written exists here too, and
    /// isn't the listed one.
    ///
    /// If it doesn't exist, not everything was copied.
    private func mayBeCopy(of path: SnapshotList.Path, at place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        guard let level = path.folders.firstIndex(where: { $0 != nil }), let folder = found[level] else {
            return false
        }
        return folder != path.folders[level]
    }
}
