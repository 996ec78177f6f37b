/// The copies of a snapshot, once no closure needs them: put back, given up or removed, under the state's lock.
///
/// An item, or a mark of something absent, that isn't spent is one that isn't restored yet: that is the whole bookkeeping. A restore
/// that is repeated touches nothing that is spent, since the app may have written there meanwhile.
struct SavedFiles {
    let location: StateLocation
    let version: AppVersion?
    private let folder: String

    /// `nil` if there are no copies.
    init?(_ location: StateLocation, for version: AppVersion?) throws(SystemCallError) {
        guard let folder = try location.existingSnapshot() else { return nil }
        self.location = location
        self.version = version
        self.folder = folder
    }

    /// The error of a state that asks for copies which aren't there.
    static func missing(_ location: StateLocation, _ version: AppVersion) -> MigrationError {
        let reason: Message =
            "the state says that files are to be put back, and \(location.snapshot) is not there"
        return location.protection(.missing, version, at: location.snapshot, reason)
    }

    /// Puts everything back to what it was, durably; `report` gets how much is done while files are copied to another file system.
    ///
    /// - Returns: What was replaced there and could neither be removed nor moved into the snapshot.
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    func putBack(_ report: @escaping CopyReport) throws -> [String] {
        let base = try Platform.resolved(location.directory)
        try Snapshot.refuseForeign(folder)
        guard let list = try SnapshotList.read(in: folder) else {
            let isThere = try Platform.exists(at: folder + "/list")
            throw lost(
                "\(folder)/list is \(isThere ? "damaged, or written by another release" : "not there")"
            )
        }
        if !FilePaths.isSame(list.manager, location.name) {
            throw lost("\(folder)/list is that of manager \(list.manager.quoted)")
        }
        let places = list.places(from: base)
        let isElsewhere = !FilePaths.isSame(list.stateFolder, base)
        if isElsewhere { try refuseSeparated(list, places) }
        // Everything is looked at before anything is changed.
        for (index, place) in places.enumerated() {
            // A folder whose entries are being put back has to be one still.
            var above = try Platform.exists(at: "\(folder)/\(index)/item.entries") ? place + "/" : place
            while above != "/" {
                above = FilePaths.parent(above)
                guard let kind = try Platform.status(above)?.kind, kind != .directory else { continue }
                let reason: Message =
                    "\(above) was a folder when the copy was made; put that back in its place"
                throw refusal(above, reason)
            }
            if try ProtectedPaths.holdsState(place, location, base) {
                throw refusal(place, "the state directory is in \(place)")
            }
            if try ProtectedPaths.mount(above: place, upTo: base) != list.paths[index].mount {
                let reason: Message =
                    "a file system was mounted or unmounted there since the copy was made; undo that"
                throw refusal(place, reason)
            }
            try refuseEmptied("\(folder)/\(index)", place)
        }
        // The process that saved the intent may have died before it was durable: after a power cut the state would not ask for what is
        // half put back.
        try Platform.synchronize(location.directory)
        var kept: [String] = []
        for (index, place) in places.enumerated() {
            let count = Double(places.count)
            var path = PutBack(place, from: "\(folder)/\(index)", keepingReplaced: isElsewhere) {
                fraction,
                note in
                report((Double(index) + fraction) / count, note)
            }
            try path.run()
            kept += path.keptBeside
            try FileTree.synchronizeFolders(from: FilePaths.parent(place), upTo: base)
            // Before the save that comes next, since the files that were set aside can be what fills the disk.
            do throws(SystemCallError) {
                try path.removeSetAside()
            } catch {
                // The removal of the snapshot reports what can't be removed.
            }
        }
        return kept
    }

    /// Files that this library neither puts back nor removes.
    struct Kept {
        /// Their folder, or their own path.
        let folder: String
        let reason: Reason
    }

    enum Reason {
        /// Copies whose state was lost.
        case stateLost
        /// The state of a manager is in what was replaced.
        case holdsState
        /// It can't be moved into the snapshot, which is on another file system.
        case besideItsPlace
        /// The state directory came from the named place, so nobody knows what was replaced.
        case stateMoved(from: String)
    }

    /// Removes the copies, and what was replaced by a restore; moves all aside and returns that folder if it must not be removed.
    func discard() throws(SystemCallError) -> Kept? {
        // This library didn't make a thing that is no folder. A user could lead root out of a folder of their own.
        try Snapshot.refuseForeign(folder)
        // The state that asks for them no more may stand in memory only.
        try Platform.synchronize(location.directory)
        if let reason = try reasonToKeep() {
            return try keep(from: Platform.now).map { Kept(folder: $0, reason: reason) }
        }
        try Platform.removeTree(folder)
        return nil
    }

    private func reasonToKeep() throws(SystemCallError) -> Reason? {
        var replaced: [String] = []
        for name in try Platform.names(in: folder) where name.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            replaced += try PutBack.setAside(in: folder + "/" + name)
        }
        for path in replaced where try StateRecognition.isStateIn(path) { return .holdsState }
        if replaced.isEmpty { return nil }
        let base = try Platform.resolved(location.directory)
        guard let list = try SnapshotList.read(in: folder), !FilePaths.isSame(list.stateFolder, base) else {
            return nil
        }
        return .stateMoved(from: list.stateFolder)
    }

    /// Moves the copies to a folder of their own, durably; gives that folder, or `nil` where there are no copies.
    ///
    /// The folder has its name from the interruption. So where a call was killed before the state was saved, the next call
    /// finds that folder and continues with it. Where it can't be moved, a mark in it says that nothing of it is to be removed, and the next
    /// snapshot gets another name.
    func keep(from time: Int64) throws(SystemCallError) -> String? {
        var number = 1
        while try Platform.exists(at: location.kept(time, number)) { number += 1 }
        let next = location.kept(time, number)
        guard try Platform.status(folder)?.kind == .directory else {
            return try Self.lastKept(location, from: time)
        }
        do throws(SystemCallError) {
            try Platform.replace(next, with: folder)
        } catch {
            try Platform.makeDirectory(folder + "/" + StateLocation.keptMark)
            try Platform.synchronize(folder)
            return folder
        }
        // The new place has to be durable before a state says nothing of the copies: at their old place they would be removed then.
        try Platform.synchronize(location.directory)
        return next
    }

    /// The folder that copies were moved to before, by a call that was killed then; `nil` if there is none.
    static func lastKept(_ location: StateLocation, from time: Int64) throws(SystemCallError) -> String? {
        var kept: String?
        var number = 1
        while try Platform.exists(at: location.kept(time, number)) {
            kept = location.kept(time, number)
            number += 1
        }
        return kept
    }

    /// Refuses a copy that has lost files: programs that clear away old files may have removed them.
    private func refuseEmptied(_ copies: String, _ place: String) throws {
        if try Platform.exists(at: copies + PutBack.begun) { return }
        if try !Platform.exists(at: copies + "/item"), try !Platform.exists(at: copies + "/absent") {
            throw lost("the copy of \(place) is not in \(copies)")
        }
        var count = 0
        for part in Snapshot.companions { count += try FileTree(copies + "/item" + part).entries.count }
        if try !Platform.exists(at: "\(copies)/entries-\(count)") {
            throw lost("files of the copy of \(place) were removed from \(copies), or added to it")
        }
    }

    /// Refuses to put files back if the state directory is at another place than the list says, and the files didn't come along.
    ///
    /// An app's folders can move as a whole, so the list gives the files' paths from the state. If state and files went different
    /// ways, those paths lead to places where the files never were, and where something else may be. So what decides is the
    /// identity of the snapshot's folder, and of the folder above each path. If both are the same as before, everything was moved.
    /// If both are others, everything was copied. If only one is, state and files were separated.
    private func refuseSeparated(_ list: SnapshotList, _ places: [String]) throws {
        let isMoved = try Platform.identity(ofFolder: folder) == list.snapshot
        for (path, place) in zip(list.paths, places) {
            let came = try isMoved ? hasMoved(path, to: place) : mayBeCopied(path, to: place)
            if came { continue }
            let former = FilePaths.absolute(path.relative, from: list.stateFolder)
            throw refusal(
                place,
                """
                the state was moved or copied from \(list.stateFolder) to \(location.directory) without \(former), which would be \
                put back to \(place); move the state back, or the files after it
                """
            )
        }
    }

    /// True if the folder above a path, or the nearest one of those above it that the closure left, is the one that the list
    /// names, or if the path itself is.
    private func hasMoved(_ path: SnapshotList.Path, to place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        if let level = found.firstIndex(where: { $0 != nil }), found[level] == path.folders[level] {
            return true
        }
        guard let identity = path.identity else { return false }
        return try Platform.statusIfPresent(place)?.identity == identity
    }

    /// True if every folder above a path is there that was there when the list was written, and none of them is the listed one.
    ///
    /// A copy without the folder above isn't a copy of everything.
    private func mayBeCopied(_ path: SnapshotList.Path, to place: String) throws -> Bool {
        let found = try ProtectedPaths.folders(above: place, leadingTo: path.relative)
        guard let level = path.folders.firstIndex(where: { $0 != nil }), let folder = found[level] else {
            return false
        }
        return folder != path.folders[level]
    }

    private func refusal(_ path: String, _ reason: Message) -> MigrationError {
        location.protection(.restoring, version, at: path, reason)
    }

    private func lost(_ reason: Message) -> MigrationError {
        let reason: Message = "the state says that files are to be put back, and \(reason)"
        return location.protection(.missing, version, at: folder, reason)
    }
}
