/// Checks before a restore: that the copies are this user's own, complete, and of the files at these places.
extension FileSnapshot {
    /// Refuses a state that another user made, or may change.
    ///
    /// With a list and a copy of their own making, another user could overwrite any file that this user may write to.
    func refuseForeign(_ directory: String, _ stage: ProtectionFailure.Stage) throws {
        for path in [directory, location.state, location.lock, location.snapshot] {
            let reason = try FileTree.at(path, call: Platform.foreignWriter)
            if let reason { throw ProtectionFailure.foreign(path, "\(reason)", stage) }
        }
    }

    /// Refuses to put files back beside a state that was moved away from them.
    ///
    /// An app's folders can move as a whole, so the list gives the files' paths from the state. Where the state was moved alone,
    /// those paths lead to places where the files never were.
    func refuseMoved(_ interrupted: Interruption, _ directory: String) throws {
        guard let former = interrupted.stateDirectory, !former.utf8.elementsEqual(directory.utf8) else {
            return
        }
        let isStateThere = try stands(former)
        for relative in interrupted.protected {
            let path = FilePaths.absolute(relative, from: directory)
            let old = FilePaths.absolute(relative, from: former)
            let isSame = path.utf8.elementsEqual(old.utf8)
            if try isSame || !stands(FilePaths.parent(old)) { continue }
            // The old place still has a state. So these folders are a copy of the app's folders, with files of their own.
            if isStateThere, try stands(FilePaths.parent(path)) { continue }
            throw ProtectionFailure.moved(old, to: path, with: former, to: location.directory)
        }
    }

    /// Whether something stands where this process can reach it: an app whose folders were moved may not look at where they
    /// were, which is outside of its sandbox.
    private func stands(_ path: String) throws -> Bool {
        do {
            return try FileTree.status(path) != nil
        } catch let failure as FileTree.Failure where Platform.forbids(failure.cause) {
            return false
        }
    }

    /// Refuses a copy that has lost files: programs that clear away old files may have removed them.
    ///
    /// Gives how much there is to put back.
    func refuseEmptied(_ folder: String, _ paths: [String]) throws -> CopyProgress.Extent {
        let item = folder + "/item"
        if try FileTree.status(item) == nil, try FileTree.status(folder + Self.absence) == nil {
            throw ProtectionFailure.snapshotMissing(item, paths)
        }
        var extent = CopyProgress.Extent()
        for companion in Self.companions { extent += try FileTree.extent(item + companion) }
        if try FileTree.status(folder + Self.size(extent.things)) == nil {
            throw ProtectionFailure.incomplete(folder, paths)
        }
        return extent
    }

    /// Says in a path's folder how many files, folders and links its copy has.
    static func size(_ count: Int) -> String { "/entries-\(count)" }

    /// Says in a path's folder that nothing stood at that path.
    static var absence: String { "/absent" }
}
