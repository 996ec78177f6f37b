/// The copies in a snapshot, after the migration's closure has ended or its process has crashed.
///
/// The process that holds the state's lock restores the files from them, keeps them or removes them.
///
/// A restore moves each copy out of the snapshot. So a copy that is still in the snapshot hasn't been
/// restored yet, and a restore that is repeated doesn't touch files that were already restored: the app may
/// have written to these since. ``PathRestore`` restores one path.
struct SavedFiles {
    let location: StateLocation
    let version: AppVersion?

    /// The path of the snapshot.
    let folder: String

    /// Finds the copies that belong to the state at a location; `nil` if there is no snapshot.
    ///
    /// `version` is the migration that protects the files, for error messages.
    init?(in location: StateLocation, of version: AppVersion?) throws(SystemCallError) {
        guard let folder = try location.existingSnapshot() else { return nil }
        self.location = location
        self.version = version
        self.folder = folder
    }

    /// Files that this library neither restores nor removes.
    struct Kept {
        /// The folder that contains the files, or the path of one kept file.
        let path: String

        let reason: Reason
    }

    /// Why files are kept.
    enum Reason {
        /// The files are copies, and the state that referred to them was lost.
        case stateLost

        /// The files are copies that nothing needs any more, and they could not be removed.
        case notRemovable

        /// A restore replaced the files, and they contain the state of a manager.
        case holdsState

        /// A restore replaced the files, and they could not be moved into the snapshot, which is on another
        /// file system.
        ///
        /// They must be kept because they contain the state of a manager, because the state directory was
        /// moved, or because of the option `keepsReplacedFiles`.
        case notMovable

        /// A restore replaced the files after the state directory was moved from this path.
        ///
        /// They must be kept because they may be files that have nothing to do with the app.
        case stateMoved(from: String)

        /// A restore after a crash replaced the files, and an older release may have written to them.
        ///
        /// They are kept because of the option `keepsReplacedFiles`, or because `forgetState` restored the
        /// files.
        case replacedAfterCrash
    }

    /// The name of an empty file that marks a snapshot.
    ///
    /// Files that a restore replaces are moved into the snapshot. If the snapshot has this mark, they have to
    /// be kept. Only a restore after a crash sets the mark, before it replaces the first file.
    static var replacedFilesMarker: String { "replaced-files-stay" }

    /// Removes the snapshot, or moves it aside if it contains replaced files that must be kept.
    ///
    /// - Returns: The files that were kept; `nil` if the snapshot was removed.
    func discard() throws(SystemCallError) -> Kept? {
        // Don't remove what this library didn't create: an item that isn't a folder, or another user's
        // folder. That user could put links in it and redirect the removal to other files.
        try Snapshot.refuseForeign(folder)
        // The state that was saved last says that the copies are no longer needed. Sync it to disk before the
        // copies are removed.
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
        if let list = try SnapshotList.read(in: folder), !FilePaths.isSame(list.stateFolder, stateFolder) {
            return .stateMoved(from: list.stateFolder)
        }
        return try Platform.exists(at: folder + "/" + Self.replacedFilesMarker) ? .replacedAfterCrash : nil
    }

    /// Moves the snapshot to a folder that this library neither restores nor removes, and syncs the move.
    ///
    /// If the snapshot can't be moved, a marker that it is kept is created in it, and the next snapshot gets
    /// another name.
    ///
    /// `time` is part of the new folder's name. A caller that also saves the state passes the time at which
    /// the interrupted migration started. If the process is killed between the move and the save, the next
    /// call computes the same name and finds the copies there.
    ///
    /// - Returns: The folder that contains the copies now; `nil` if there are none.
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
            try Platform.makeDirectory(folder + "/" + StateLocation.keptMarker)
            try Platform.synchronize(folder)
            return folder
        }
        // Sync the move to disk before the caller saves a state that doesn't refer to the copies. Otherwise a
        // power failure could undo the move, and the next start would find copies that no state refers to and
        // remove them.
        try Platform.synchronize(location.directory)
        return kept
    }

    /// The folder to which an earlier call of ``keep(asOf:)`` moved the copies; `nil` if there is none.
    ///
    /// The process of that call may have been killed before it saved the state.
    static func lastKept(of location: StateLocation, asOf time: Int64) throws(SystemCallError) -> String? {
        var kept: String?
        var number = 1
        while try Platform.exists(at: location.keptCopies(from: time, number: number)) {
            kept = location.keptCopies(from: time, number: number)
            number += 1
        }
        return kept
    }
}
