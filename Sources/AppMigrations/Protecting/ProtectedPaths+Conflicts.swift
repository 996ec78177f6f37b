/// Finds files that two managers of one state directory protect.
///
/// If one manager restored such a file after the other had recorded its migration, the restore would undo
/// that migration, and the record would be wrong.
extension ProtectedPaths {
    /// Throws an error if another manager has also listed one of these paths.
    ///
    /// Before calling this, the caller must have synced its own list to disk. So if two managers list the
    /// same file at the same time, at least one of them finds the other's list. It is possible that both
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
    /// The list counts in two cases. Either it is locked, which means that the other manager's closure is
    /// running. Or the state of that manager says that a restore is pending.
    private func refuseConflict(of ownPlaces: [Place], with manager: String, snapshot: String) throws {
        // If a restore was abandoned, or the state that needed the copies was lost, the copies no longer
        // belong to any manager.
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

    /// The first listed path that contains one of these places or is inside one.
    ///
    /// The identities of the items are compared too. So the same item is recognized even if it has two paths.
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
    /// They show whether another path leads to the same item.
    ///
    /// A file has a second name if it is below a bind mount, or if the file system ignores case.
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
