/// The copies of a snapshot, once no closure needs them: put back, given up or removed, under the state's lock.
///
/// An item, or a mark of something absent, that isn't spent is one that isn't restored yet: that is the whole bookkeeping. A restore
/// that is repeated touches nothing that is spent, since the app may have written there meanwhile.
struct SavedFiles {
    let location: StateLocation
    let version: AppVersion?
    private let folder: String

    init(_ location: StateLocation, for version: AppVersion?) throws(SystemCallError) {
        (self.location, self.version) = (location, version)
        folder = try location.snapshotInUse()
    }

    /// Puts everything back to what it was, durably.
    ///
    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    func putBack() throws {
        let base = try Platform.resolved(location.directory)
        guard try Platform.stands(folder) else { throw lost("\(folder) is not there") }
        try Snapshot.refuseForeign(folder)
        guard let list = try SnapshotList.read(in: folder) else { throw lost("\(folder)/list is not there") }
        if !FilePaths.isSame(list.manager, location.name) {
            throw lost("\(folder)/list is that of manager \(list.manager.quoted)")
        }
        let places = list.places(from: base)
        try refuseMoved(list, places, base)
        // Everything is looked at before anything is changed.
        for (index, place) in places.enumerated() {
            // A folder whose entries are being put back has to be one still.
            var above = try Platform.stands("\(folder)/\(index)/item.entries") ? place + "/" : place
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
        for (index, place) in places.enumerated() {
            var path = PutBack(place, from: "\(folder)/\(index)")
            try path.run()
            try FileTree.synchronizeFolders(from: FilePaths.parent(place), upTo: base)
            // Before the save that comes next, since the files that were set aside can be what fills the disk.
            do throws(SystemCallError) {
                try path.removeSetAside()
            } catch {
                // The removal of the snapshot tells of what can't be removed.
            }
        }
    }

    /// Removes the copies; where what was set aside holds the state of a manager, moves all aside, and gives that folder.
    func discard() throws(SystemCallError) -> String? {
        if try !Platform.stands(folder) { return nil }
        // This library didn't make a thing that is no folder. A user could lead root out of a folder of their own.
        try Snapshot.refuseForeign(folder)
        // The state that asks for them no more may stand in memory only.
        try Platform.synchronize(location.directory)
        let tree = try FileTree(folder, to: .remove)
        if tree.state != nil { return try keep(from: Platform.now) }
        try tree.remove()
        return nil
    }

    /// Moves the copies to a folder of their own, durably; gives that folder, or `nil` where there are no copies.
    ///
    /// The folder has its name from the interruption. So where a call was killed before the state was saved, the next call
    /// finds that folder and continues with it. Where it can't be moved, a mark in it says that nothing of it is to be removed, and the next
    /// snapshot gets another name.
    func keep(from time: Int64) throws(SystemCallError) -> String? {
        var (kept, number): (String?, Int) = (nil, 1)
        while try Platform.stands(location.kept(time, number)) {
            (kept, number) = (location.kept(time, number), number + 1)
        }
        let next = location.kept(time, number)
        guard try Platform.status(folder)?.kind == .directory else { return kept }
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

    /// Refuses a copy that has lost files: programs that clear away old files may have removed them.
    private func refuseEmptied(_ copies: String, _ place: String) throws {
        if try Platform.stands(copies + PutBack.begun) { return }
        if try !Platform.stands(copies + "/item"), try !Platform.stands(copies + "/absent") {
            throw lost("the copy of \(place) is not in \(copies)")
        }
        var count = 0
        for part in Snapshot.companions { count += try FileTree(copies + "/item" + part).entries.count }
        if try !Platform.stands("\(copies)/entries-\(count)") {
            throw lost("files of the copy of \(place) were removed from \(copies), or added to it")
        }
    }

    /// Refuses to put files back beside a state that was moved away from them.
    ///
    /// An app's folders can move as a whole, so the list gives the files' paths from the state. Where the state was moved alone,
    /// those paths lead to places where the files never were.
    private func refuseMoved(_ list: SnapshotList, _ places: [String], _ base: String) throws {
        let former = list.stateFolder
        if FilePaths.isSame(former, base) { return }
        for (old, place) in zip(list.places(from: former), places) {
            // An app whose folders were moved may not look at where they were, which is outside of its sandbox.
            let folder = FilePaths.parent(old)
            let found = try Platform.unless(Platform.forbidden, Platform.identity(ofFolder: folder)) ?? nil
            // Where the app was moved and a link left, the old path leads to the new folder.
            if try found == nil || found == Platform.identity(ofFolder: FilePaths.parent(place)) { continue }
            throw refusal(
                place,
                """
                the state was moved from \(former) to \(location.directory) without them, \(old) would be put back to \(place); move \
                the state back, or the files after it
                """
            )
        }
    }

    private func refusal(_ path: String, _ reason: Message) -> MigrationError {
        location.protection(.restoring, version, at: path, reason)
    }

    private func lost(_ reason: Message) -> MigrationError {
        let reason: Message = "the state says that files are to be put back, and \(reason)"
        return location.protection(.missing, version, at: folder, reason)
    }
}
