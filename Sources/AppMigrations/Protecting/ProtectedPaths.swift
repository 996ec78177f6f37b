/// The paths that `protecting:` names, without links, checked before anything is copied, also for other managers that protect them.
final class ProtectedPaths {
    /// Absolute, without links in the folders above, and none inside of another.
    private(set) var paths: [String] = []

    let stateFolder: String

    let location: StateLocation
    let version: AppVersion

    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    init(_ named: [String], of version: AppVersion, in location: StateLocation) throws {
        self.location = location
        self.version = version
        // The directory may be named by a link. A restore counts the paths from its real path.
        stateFolder = try Platform.resolved(location.directory)
        for name in named {
            for path in try canonical(name) where !paths.contains(where: { FilePaths.contains($0, path) }) {
                paths.removeAll { FilePaths.contains(path, $0) }
                paths.append(path)
            }
        }
        if let owner = try foreignOwner(of: stateFolder) {
            let reason: Message =
                "the state directory belongs to user \(Int(owner)), and this process is root's"
            throw location.protection(.taking, version, at: location.directory, reason)
        }
    }

    /// The paths that a named one stands for, without links in the folders above: more than one if it is a link.
    ///
    /// A link is protected together with what it leads to: a closure may write through it, or replace it by a file. With a slash at
    /// its end it names only the folder that it leads to (POSIX, 4.13 Pathname Resolution).
    private func canonical(_ named: String) throws -> [String] {
        if let reason = FilePaths.refusal(named) { throw refusal(of: named, reason) }
        var found: [String] = []
        var next = try absolute(named)
        while true {
            let path = try canonicalEntry(next, named)
            let isLink = try Platform.status(path)?.kind == .link
            // What this user can't replace, the closure can't either: it can only write through it.
            if try !isLink || Platform.mayWrite(FilePaths.parent(path)) {
                try check(path, named)
                found.append(path)
            }
            if !isLink { return found }
            let target = try Platform.target(ofLink: path)
            next = target.utf8.first == 0x2F ? target : FilePaths.joined(FilePaths.parent(path), target)
            if found.count > Self.linkLimit {
                throw refusal(of: named, "it leads through more than \(Self.linkLimit) links")
            }
        }
    }

    /// As many as Linux follows.
    private static var linkLimit: Int { 40 }

    private func absolute(_ named: String) throws -> String {
        if named.utf8.first == 0x2F { return named }
        do throws(SystemCallError) {
            return FilePaths.joined(try Platform.workingDirectory(), named)
        } catch {
            throw refusal(of: named, "it is relative, and the working directory can't be had: \(error)")
        }
    }

    /// A path whose last part alone may be a link.
    private func canonicalEntry(_ path: String, _ named: String) throws -> String {
        let isFolder = path.utf8.last == 0x2F
        var path = FilePaths.absolute("", from: path)
        if isFolder, try Platform.status(path)?.kind == .link { path = try Platform.resolved(path + "/") }
        if [".", ".."].contains(FilePaths.last(path)) { path = try Platform.resolved(path) }
        return FilePaths.joined(try real(FilePaths.parent(path), named), FilePaths.last(path))
    }

    /// The path without links of a folder that need not be there.
    private func real(_ folder: String, _ named: String) throws -> String {
        if try Platform.exists(at: folder) { return try Platform.resolved(folder) }
        let name = FilePaths.last(folder)
        // Such a path can't be resolved before the folder is there, and a restore would remove whatever is there by then.
        if name == "." || name == ".." {
            throw refusal(of: named, "it leads through a folder that is not there")
        }
        return FilePaths.joined(try real(FilePaths.parent(folder), named), name)
    }

    private func check(_ path: String, _ named: String) throws {
        for part in Snapshot.companions where try Self.holdsState(path + part, location, stateFolder) {
            throw refusal(of: named, "the state directory is in it")
        }
        // The state, its lock and its snapshots begin so.
        let own = FilePaths.joined(stateFolder, location.name) + ".migrations."
        if FilePaths.begins(path, own) { throw refusal(of: named, "it belongs to the state") }
        let folder = FilePaths.parent(path)
        for place in [folder, path] { try refuseForeign(place, named) }
        try requireReplaceable(path, in: folder, named)
        if let reason = try FilePaths.escapes(path) { throw refusal(of: named, reason) }
    }

    /// Refuses what a restore could not put back.
    private func requireReplaceable(_ path: String, in folder: String, _ named: String) throws {
        guard let folderStatus = try Platform.status(folder) else { return }
        for place in try [folder] + Snapshot.parts(of: path) {
            if let word = try Platform.wordIfUnchangeable(place) {
                throw refusal(of: named, "\(place) is \(word)")
            }
        }
        guard let status = try Platform.status(path) else {
            return try requireWritable(folder, andReadable: true, named)
        }
        if status.kind != .directory {
            try requireWritable(folder, andReadable: true, named)
            // In a folder with the sticky bit only the owners of a file and of the folder may rename it (rename(2)).
            let isSticky = folderStatus.permissions & 0o1000 != 0
            if isSticky, !Platform.isRoot, !Platform.isOwn(folderStatus), !Platform.isOwn(status) {
                throw refusal(
                    of: named,
                    "it belongs to another user, in \(folder), whose files only their owners may rename"
                )
            }
        } else if try Platform.mayWrite(folder) {
            try requireWritable(folder, andReadable: true, named)
        } else if let error = try Platform.refusalOfWriting(path), !(error.isDenied && Platform.isOwn(status))
        {
            // The entries of a folder are put back one by one, if it can't be moved itself.
            throw refusal(of: named, "neither it nor the folder that it is in can be written to: \(error)")
        }
    }

    private func requireWritable(_ folder: String, andReadable: Bool, _ named: String) throws {
        if try Platform.mayWrite(folder, andRead: andReadable) { return }
        throw refusal(of: named, "this user may not read \(folder) and write to it")
    }

    /// The owner of a folder in which root must not work, since that owner can lead it elsewhere by a link; `nil` if there is none.
    private func foreignOwner(of folder: String) throws -> UInt32? {
        guard Platform.isRoot, let owner = try Platform.status(folder)?.owner, owner != 0 else { return nil }
        return owner
    }

    private func refuseForeign(_ folder: String, _ named: String) throws {
        guard let owner = try foreignOwner(of: folder) else { return }
        throw refusal(of: named, "\(folder) belongs to user \(Int(owner)), and this process is root's")
    }

    /// Refuses an entry that can't be copied, or that a restore could not put back.
    func requireCopyable(_ entry: FileTree.Entry, of path: String) throws {
        let isTop = entry.below.isEmpty
        let isFolder = entry.status.kind == .directory
        if let word = entry.status.kind.wordIfSpecial {
            throw refusal(of: path, "\(entry.path) is \(word), which can't be copied")
        }
        // A protected folder that is a mount point is put back by its entries. A mounted file can't be removed (unlink(2)).
        if !(isFolder && isTop), try Platform.isMountPoint(entry.path, entry.status) {
            throw refusal(of: path, "a file system or a file is mounted at \(entry.path)")
        }
        if entry.status.kind == .file, try StateRecognition.isState(file: entry.path) {
            throw refusal(of: path, "the state of a manager is in it, \(entry.path)")
        }
        if isFolder { try refuseForeign(entry.path, path) }
    }

    func refuseCancelled() throws(MigrationError) {
        if Task.isCancelled {
            throw location.cancelled(version, "copied the files that migration \(version) protects")
        }
    }

    func refusal(of path: String, _ reason: Message) -> MigrationError {
        let reason: Message = "\(path.quoted) can't be protected, since \(reason)"
        return location.protection(.taking, version, at: path, reason)
    }

    /// True if the state directory is what stands at a path, lies in it, or is reached through it; `base` is it without links.
    static func holdsState(_ path: String, _ location: StateLocation, _ base: String) throws -> Bool {
        let place = try Place(path)
        return try place.holds(Place(base)) || place.holds(Place(location.directory))
    }

    /// Where the nearest mount on the way to a path is, below the folder that holds the state too: how many folders up, the path itself
    /// being 1; 0 where nothing is mounted.
    static func mount(above path: String, upTo base: String) throws(SystemCallError) -> Int {
        var (place, distance) = (path, 1)
        while !FilePaths.contains(place, base) {
            let status = try Platform.statusIfPresent(place)
            if let status, try Platform.isMountPoint(place, status) { return distance }
            (place, distance) = (FilePaths.parent(place), distance + 1)
        }
        return 0
    }
}

extension ProtectedPaths {
    /// The list of these paths for the snapshot in `folder`, which was just made.
    func list(copiedTo folder: String) throws(SystemCallError) -> SnapshotList {
        var entries: [SnapshotList.Path] = []
        for path in paths {
            let relative = FilePaths.relative(path, to: stateFolder)
            let entry = SnapshotList.Path(
                relative: relative,
                identity: try Platform.status(path)?.identity,
                mount: try Self.mount(above: path, upTo: stateFolder),
                folders: try Self.folders(above: path, leadingTo: relative)
            )
            entries.append(entry)
        }
        return SnapshotList(
            manager: location.name,
            stateFolder: stateFolder,
            snapshot: try FileStatus(ofEntry: folder).identity,
            paths: entries
        )
    }

    /// The folders above a path, the nearest first, up to the one that holds the state directory too: as many as `relative`, the
    /// path as seen from the state directory, has names.
    static func folders(above path: String, leadingTo relative: String) throws(SystemCallError)
        -> [FileIdentity?]
    {
        var folders: [FileIdentity?] = []
        var folder = path
        for name in FilePaths.components(relative) where name != ".." {
            folder = FilePaths.parent(folder)
            folders.append(try Platform.identity(ofFolder: folder))
        }
        return folders
    }
}

/// Files that two managers of one directory protect: if one put them back under the other, the other's record would be wrong.
extension ProtectedPaths {
    /// Refuses files that another manager has listed too, whose list this one finds once its own is durable.
    ///
    /// Of two that list at once, at least one finds the other's list; both may be refused.
    func refuseConflict() throws {
        let own = try paths.flatMap(Snapshot.parts).map(Place.init)
        for name in try Platform.names(in: stateFolder) {
            guard let manager = StateLocation.managerName(ofSnapshot: name),
                !FilePaths.isSame(manager, location.name)
            else { continue }
            try refuseConflict(of: own, with: manager, FilePaths.joined(stateFolder, name))
        }
    }

    /// Looks at another manager's list in a folder of copies.
    ///
    /// It counts while it is locked, which says that the closure runs, or while that manager's state asks for the copies.
    private func refuseConflict(of own: [Place], with manager: String, _ folder: String) throws {
        // Copies that were given up, or found beside a lost state, are nobody's any more.
        if try Platform.exists(at: folder + "/" + StateLocation.keptMark) { return }
        guard try Platform.exists(at: folder + "/list") else { return }
        let list = try SnapshotList.read(in: folder)
        var place = folder + "/list"
        if let list {
            guard let shared = try shared(list, own) else { return }
            place = shared
        }
        let other = StateLocation(name: list?.manager ?? manager, directory: location.directory)
        // The lock first: a list that is found free was let go by a closure that has ended, whose state is read after that.
        if try Platform.isLocked(folder + "/list") {
            throw location.conflict(with: other, over: place, of: version, isRunning: true)
        }
        if try StateFile(location: other).readState()?.marks.hasLeftover == true {
            if list == nil {
                throw refusal(
                    of: place,
                    "manager \(other.name.quoted) protects files, and its list is damaged"
                )
            }
            // Between the closure's end and the record the process still has the state's lock.
            let isRunning = try Platform.isLocked(other.lock)
            throw location.conflict(with: other, over: place, of: version, isRunning: isRunning)
        }
    }

    /// The first place of the list that holds one of these, or lies in one, by whatever name.
    private func shared(_ list: SnapshotList, _ own: [Place]) throws -> String? {
        try zip(list.paths, list.places(from: stateFolder)).first { entry, path in
            if let taken = entry.identity, own.contains(where: { $0.standing.contains(taken) }) {
                return true
            }
            let places = try Snapshot.parts(of: path).map(Place.init)
            return places.contains { place in own.contains { $0.holds(place) || place.holds($0) } }
        }?.1
    }

    /// A path, and what stands on it: a bind mount, or a disk that takes capitals for small letters, gives a file a second name.
    struct Place {
        let path: String
        /// `nil` where nothing stands.
        let identity: FileIdentity?
        /// The thing at the path and the folders above it, as far as they are there, the inmost first.
        private(set) var standing: [FileIdentity] = []

        init(_ path: String) throws(SystemCallError) {
            (self.path, identity) = (path, try Platform.statusIfPresent(path)?.identity)
            var place = path
            while true {
                if let found = try Platform.statusIfPresent(place) { standing.append(found.identity) }
                if place == "/" { return }
                place = FilePaths.parent(place)
            }
        }

        func holds(_ other: Place) -> Bool {
            if FilePaths.contains(path, other.path) { return true }
            return identity.map { other.standing.contains($0) } ?? false
        }
    }
}
