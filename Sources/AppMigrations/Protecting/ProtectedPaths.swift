/// The paths that `protecting:` names, without links, checked before anything is copied, also for other managers that protect them.
final class ProtectedPaths {
    /// Absolute, without links in the folders above, and none inside of another.
    private(set) var paths: [String] = []

    let stateFolder: String

    let location: StateLocation
    let version: AppVersion

    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    init(_ named: [String], _ location: StateLocation, _ version: AppVersion) throws {
        self.location = location
        self.version = version
        // The directory may be named by a link. A restore counts the paths from its real path.
        stateFolder = try Platform.resolved(location.directory)
        try refuseForeign(stateFolder, location.directory)
        for path in try named.map(canonical) where !paths.contains(where: { FilePaths.contains($0, path) }) {
            paths.removeAll { FilePaths.contains(path, $0) }
            paths.append(path)
        }
    }

    /// The path with the links of its folders resolved, but not its last part: if that is a link, the link itself is protected.
    private func canonical(_ named: String) throws -> String {
        if let reason = FilePaths.refusal(named) { throw refusal(of: named, reason) }
        var path = named.utf8.first == 0x2F ? named : try Platform.workingDirectory() + "/" + named
        // A slash at the end of a link's name makes it that of the folder which the link leads to (POSIX, 4.13 Pathname
        // Resolution).
        let isFolder = path.utf8.last == 0x2F
        path = FilePaths.absolute("", from: path)
        if isFolder, try Platform.status(path)?.kind == .link { path = try Platform.resolved(path + "/") }
        if [".", ".."].contains(FilePaths.last(path)) { path = try Platform.resolved(path) }
        let canonical = FilePaths.joined(try real(FilePaths.parent(path), named), FilePaths.last(path))
        try check(canonical, named)
        return canonical
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
        // The entries of a folder can be put back one by one, where it can't be moved; a file needs the folder that it is in.
        let isMoved = try Platform.status(path)?.kind != .directory || Platform.mayWrite(folder)
        if isMoved, try Platform.exists(at: folder), try !Platform.mayWrite(folder, andRead: true) {
            throw refusal(of: named, "this user may not read \(folder) and write to it")
        }
        if let reason = try FilePaths.escapes(path) { throw refusal(of: named, reason) }
    }

    /// Refuses to let root work in another user's folder, whose owner can lead it elsewhere by a link.
    func refuseForeign(_ folder: String, _ named: String) throws {
        guard Platform.isRoot, let owner = try Platform.status(folder)?.owner, owner != 0 else { return }
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
    typealias Rival = (location: StateLocation, place: String)

    /// Another manager that has listed some of the same files and may be waited for; `nil` where none has listed any.
    ///
    /// Of two that list at once at least one finds the other's list, since each makes its own durable before it looks. The one whose name
    /// sorts first waits until the other's list went, and the other takes its own back: never are both refused.
    func rival(isAsynchronous: Bool) throws(MigrationError) -> Rival? {
        do {
            guard let (rival, isRunning) = try found() else { return nil }
            if isRunning, location.name < rival.location.name, try RunToken.enclosing(rival.location) == nil {
                // An asynchronous closure may need this very thread to go on.
                let lock = try Platform.status(rival.location.lock)?.identity
                if isAsynchronous || !FileLock.isHeldAsynchronously(lock, rival.location) { return rival }
            }
            let name = rival.location.name.quoted
            let reason: Message =
                isRunning
                ? "manager \(name) has listed \(rival.place) for its migration, which is running: start again when it has ended"
                : """
                manager \(name) has copied \(rival.place) for a migration that has not ended: make that manager first, or give its \
                files up with MigrationManager.abandonRestore(named: \(name))
                """
            throw location.protection(.taking, version, at: rival.place, reason)
        } catch {
            throw location.protection(.taking, version, error)
        }
    }

    /// Where no process is at work on the other manager, its files wait to be put back.
    private func found() throws -> (Rival, isRunning: Bool)? {
        let own = try paths.flatMap(Snapshot.parts).map(Place.init)
        for name in try Platform.names(in: stateFolder) where name.contains(StateLocation.snapshotSuffix) {
            let folder = FilePaths.joined(stateFolder, name)
            // Copies that were given up, or found beside a lost state, are nobody's any more.
            if try Platform.exists(at: folder + "/" + StateLocation.keptMark) { continue }
            guard let list = try SnapshotList.read(in: folder),
                !FilePaths.isSame(list.manager, location.name),
                let place = try shared(list, own)
            else { continue }
            let other = StateLocation(name: list.manager, directory: location.directory)
            // The lock first: a list that is found free was let go by a closure that has ended, whose state is read after that.
            if try Platform.isLocked(folder + "/list") { return ((other, place), isRunning: true) }
            if try StateFile(location: other).readState()?.marks.hasLeftover == true {
                // Between the closure's end and the record the process still has the state's lock.
                return ((other, place), isRunning: try Platform.isLocked(other.lock))
            }
        }
        return nil
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
