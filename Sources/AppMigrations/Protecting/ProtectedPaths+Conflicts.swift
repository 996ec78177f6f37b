/// Refuses to protect a file that another manager of the same state directory protects already.
///
/// Otherwise one manager could restore the file after the other manager has recorded its migration. The
/// restore would undo the work of a migration that is recorded as done.
extension ProtectedPaths {
    /// Throws an error if another manager has also listed one of these paths.
    ///
    /// The caller must have written its own list before it calls this. So if two managers list the same file
    /// at the same time, at least one of them finds the other's list. Both may find the other's list and
    /// throw.
    func refuseConflict() throws {
        let ownPlaces = try paths.flatMap(Snapshot.parts).map(Place.init)
        for name in try Platform.names(in: stateFolder) {
            guard let manager = StateLocation.managerName(ofSnapshot: name),
                !FilePaths.isSame(manager, location.name)
            else { continue }
            try refuseConflict(
                of: ownPlaces,
                with: manager,
                snapshot: FilePaths.joined(stateFolder, name: name)
            )
        }
    }

    /// Throws an error if the list in another manager's snapshot contains one of these places.
    ///
    /// The list counts in two cases: if it is locked, because then the other manager's closure is running, or
    /// if the state of that manager says that a restore is pending.
    private func refuseConflict(of ownPlaces: [Place], with manager: String, snapshot: String) throws {
        // The copies are marked as kept: their restore was abandoned, or the state that referred to them was
        // lost. So no manager will restore them.
        if try Platform.exists(at: snapshot + "/" + StateLocation.abandonedMark) { return }
        guard try Platform.exists(at: snapshot + "/list") else { return }
        let list = try SnapshotList.read(in: snapshot)
        var path = snapshot + "/list"
        if let list {
            guard let shared = try sharedPath(in: list, with: ownPlaces) else { return }
            path = shared
        }
        let other = StateLocation(name: list?.manager ?? manager, directory: location.directory)
        // The lock is tested before the state is read. If the lock is free, the closure has ended, so the
        // state that is read after that says whether a restore is pending.
        if try Platform.isLocked(snapshot + "/list") {
            throw location.conflictError(with: other, over: path, of: version, isRunning: true)
        }
        if try StateFile(location: other).readState()?.versions.awaitsRestore == true {
            if list == nil { throw location.damagedListError(of: other, at: path, while: version) }
            // After its closure has ended, the other process holds the state's lock until it has recorded the
            // migration. So if that lock is held, the migration is still running.
            let isRunning = try Platform.isLocked(other.lock)
            throw location.conflictError(with: other, over: path, of: version, isRunning: isRunning)
        }
    }

    /// The first path in `list` that contains one of the places or is inside one; `nil` if there is none.
    ///
    /// The identities of the items are compared too, because the same item can have two paths.
    private func sharedPath(in list: SnapshotList, with ownPlaces: [Place]) throws -> String? {
        for (entry, path) in zip(list.paths, list.places(from: stateFolder)) {
            if let listed = entry.identity, ownPlaces.contains(where: { $0.identities.contains(listed) }) {
                return path
            }
            let places = try Snapshot.parts(of: path).map(Place.init)
            if places.contains(where: { place in
                ownPlaces.contains { $0.contains(place) || place.contains($0) }
            }) {
                return path
            }
        }
        return nil
    }

    /// A path, with the identities of its item and of the folders above it.
    ///
    /// The identities show whether another path leads to the same item. A file has two paths, for example, if
    /// it is below a bind mount, or if the file system ignores case.
    struct Place {
        let path: String

        /// `nil` if nothing is at the path.
        let identity: FileIdentity?

        /// The identities of the item at the path and of the folders above it that exist, the nearest first.
        private(set) var identities: [FileIdentity] = []

        init(_ path: String) throws(SystemCallError) {
            self.path = path
            identity = try Platform.statusIfPresent(path)?.identity
            var place = path
            while true {
                if let found = try Platform.statusIfPresent(place) { identities.append(found.identity) }
                if place == "/" { return }
                place = FilePaths.parent(place)
            }
        }

        /// True if the other path is the same as this one or inside it.
        func contains(_ other: Place) -> Bool {
            if FilePaths.contains(path, path: other.path) { return true }
            guard let identity else { return false }
            return other.identities.contains(identity)
        }
    }
}
