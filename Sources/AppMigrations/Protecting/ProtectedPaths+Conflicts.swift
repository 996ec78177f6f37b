/// Files that two managers of one directory protect. If one of them restored a file after the other had
/// recorded its migration, that record would be wrong.
extension ProtectedPaths {
    /// Refuses these paths if another manager has listed one of them too.
    ///
    /// The caller has made its own list durable before. So if two managers list the same file at once, at
    /// least one of them finds the other's list. Both may be refused.
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

    /// Refuses these places if the list in another manager's snapshot has one of them.
    ///
    /// The list counts while it is locked, because then the closure is running, and while that manager's
    /// state asks for the copies.
    private func refuseConflict(of ownPlaces: [Place], with manager: String, snapshot: String) throws {
        // Copies that were given up, or whose state was lost, belong to no manager any more.
        if try Platform.exists(at: snapshot + "/" + StateLocation.abandonedMark) { return }
        guard try Platform.exists(at: snapshot + "/list") else { return }
        let list = try SnapshotList.read(in: snapshot)
        var path = snapshot + "/list"
        if let list {
            guard let shared = try sharedPath(in: list, with: ownPlaces) else { return }
            path = shared
        }
        let other = StateLocation(name: list?.manager ?? manager, directory: location.directory)
        // The lock is tested before the state is read. If the lock is free, the closure has ended, and the
        // state read after that says whether its files are to be restored.
        if try Platform.isLocked(snapshot + "/list") {
            throw location.conflictError(with: other, over: path, of: version, isRunning: true)
        }
        if try StateFile(location: other).readState()?.marks.awaitsRestore == true {
            if list == nil { throw location.damagedListError(of: other, at: path, while: version) }
            // From the end of its closure until the migration is recorded, the process holds the lock of the
            // state.
            let isRunning = try Platform.isLocked(other.lock)
            throw location.conflictError(with: other, over: path, of: version, isRunning: isRunning)
        }
    }

    /// The first path of the list that contains one of these places, or is in one, by any name.
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

    /// A path, with the identities by which the same items are recognized under other names.
    ///
    /// A bind mount gives a file a second name, and so does a file system that ignores case.
    struct Place {
        let path: String

        /// `nil` if nothing is at the path.
        let identity: FileIdentity?

        /// The item at the path and the folders above it that exist, the nearest first.
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

        /// True if the other place is at this one or in it.
        func contains(_ other: Place) -> Bool {
            if FilePaths.contains(path, path: other.path) { return true }
            guard let identity else { return false }
            return other.identities.contains(identity)
        }
    }
}
