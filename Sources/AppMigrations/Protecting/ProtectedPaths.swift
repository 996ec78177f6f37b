/// The paths of `protecting:` without links, checked before anything is copied: a restore must be possible,
/// and no other manager may protect them.
final class ProtectedPaths {
    /// Absolute paths without links in the folders above.
    ///
    /// None is inside another.
    private(set) var paths: [String] = []

    /// The state directory without links.
    ///
    /// A restore counts the paths from here.
    let stateFolder: String

    let location: StateLocation
    let version: AppVersion

    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    init(_ named: [String], of version: AppVersion, in location: StateLocation) throws {
        self.location = location
        self.version = version
        stateFolder = try Platform.resolved(location.directory)
        for name in named {
            for path in try checkedPaths(of: name) {
                if paths.contains(where: { FilePaths.contains($0, path: path) }) { continue }
                paths.removeAll { FilePaths.contains(path, path: $0) }
                paths.append(path)
            }
        }
        if let owner = try foreignOwner(of: stateFolder) {
            throw location.protectionError(
                .copying,
                of: version,
                at: location.directory,
                reason: "the state directory belongs to user \(Int(owner)), and this process is root's"
            )
        }
    }

    /// The list of these paths, for the snapshot in `folder`, which was just made.
    func list(forSnapshotIn folder: String) throws(SystemCallError) -> SnapshotList {
        var entries: [SnapshotList.Path] = []
        for path in paths {
            let relative = FilePaths.relative(path, to: stateFolder)
            let entry = SnapshotList.Path(
                relative: relative,
                identity: try Platform.status(path)?.identity,
                mountDistance: try Self.mountDistance(of: path, upTo: stateFolder),
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

    func refuseCancelled() throws(MigrationError) {
        if Task.isCancelled {
            throw location.cancelled(version, while: "copied the files that migration \(version) protects")
        }
    }

    /// The error for a path that can't be protected.
    func refusal(of path: String, because reason: Message) -> MigrationError {
        location.protectionError(
            .copying,
            of: version,
            at: path,
            reason: "\(path.quoted) can't be protected, because \(reason)"
        )
    }
}

/// Facts about a path that the list needs, and that a restore compares with the list.
extension ProtectedPaths {
    /// The folders above a path, the nearest first, up to the one that contains the state directory too;
    /// `nil` for a folder that doesn't exist.
    ///
    /// They are as many as there are names in `relative`, the path as seen from the state directory.
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

    /// How far above a path the nearest mount is: 1 for the path itself, 2 for the folder that it is in, and
    /// so on; 0 if there is none below the folder that contains the state directory too.
    static func mountDistance(of path: String, upTo stateFolder: String) throws(SystemCallError) -> Int {
        var place = path
        var distance = 1
        while !FilePaths.contains(place, path: stateFolder) {
            let status = try Platform.statusIfPresent(place)
            if let status, try Platform.isMountPoint(place, status: status) { return distance }
            place = FilePaths.parent(place)
            distance += 1
        }
        return 0
    }

    /// True if the state directory is at a path, in it, or is reached through it.
    ///
    /// `stateFolder` is the directory without links.
    static func holdsState(_ path: String, of location: StateLocation, in stateFolder: String) throws
        -> Bool
    {
        let place = try Place(path)
        return try place.contains(Place(stateFolder)) || place.contains(Place(location.directory))
    }
}

/// From the path that the app named to the paths to copy.
extension ProtectedPaths {
    /// As many as Linux follows in one path.
    private static var linkLimit: Int { 40 }

    /// The paths to copy for a named path, checked: more than one if it is a link.
    ///
    /// A link is protected together with the item that it leads to, because a closure may write through it or
    /// replace it by a file.
    private func checkedPaths(of named: String) throws -> [String] {
        if let reason = FilePaths.refusal(named) { throw refusal(of: named, because: reason) }
        var found: [String] = []
        var next = try absolutePath(of: named)
        while true {
            let path = try withoutLinksAbove(next, named: named)
            let isLink = try Platform.status(path)?.kind == .link
            // If this user can't replace a link, the closure can't either. It can only write through it.
            if try !isLink || Platform.mayWrite(FilePaths.parent(path)) {
                try check(path, named: named)
                found.append(path)
            }
            if !isLink { return found }
            let target = try Platform.target(ofLink: path)
            next = target.utf8.first == 0x2F ? target : FilePaths.joined(FilePaths.parent(path), name: target)
            if found.count > Self.linkLimit {
                throw refusal(of: named, because: "it leads through more than \(Self.linkLimit) links")
            }
        }
    }

    private func absolutePath(of named: String) throws -> String {
        if named.utf8.first == 0x2F { return named }
        do throws(SystemCallError) {
            return FilePaths.joined(try Platform.workingDirectory(), name: named)
        } catch {
            throw refusal(
                of: named,
                because: "it is relative, and the working directory can't be found: \(error)"
            )
        }
    }

    /// The path without links in the folders above.
    ///
    /// Only its last name may be that of a link.
    private func withoutLinksAbove(_ path: String, named: String) throws -> String {
        // A slash at the end of a link names the folder to which it leads, and not the link (POSIX, 4.13
        // Pathname Resolution).
        let namesFolder = path.utf8.last == 0x2F
        var path = FilePaths.absolute("", from: path)
        if namesFolder, try Platform.status(path)?.kind == .link { path = try Platform.resolved(path + "/") }
        if [".", ".."].contains(FilePaths.last(path)) { path = try Platform.resolved(path) }
        let folder = try withoutLinks(FilePaths.parent(path), named: named)
        return FilePaths.joined(folder, name: FilePaths.last(path))
    }

    /// The path of a folder without links.
    ///
    /// The folder need not exist.
    private func withoutLinks(_ folder: String, named: String) throws -> String {
        if try Platform.exists(at: folder) { return try Platform.resolved(folder) }
        let name = FilePaths.last(folder)
        // Such a path can't be resolved until the folder exists. The closure may make that folder anywhere,
        // and the restore would remove other files than those that were meant.
        if name == "." || name == ".." {
            throw refusal(of: named, because: "it leads through a folder that doesn't exist")
        }
        return FilePaths.joined(try withoutLinks(FilePaths.parent(folder), named: named), name: name)
    }
}

/// The checks that a restore will be possible, and will not replace anything else.
extension ProtectedPaths {
    private func check(_ path: String, named: String) throws {
        for companion in Snapshot.companions
        where try Self.holdsState(path + companion, of: location, in: stateFolder) {
            throw refusal(of: named, because: "the state directory is in it")
        }
        // The names of the state, of its lock and of its snapshots begin like this.
        let ownFiles = FilePaths.joined(stateFolder, name: location.name) + ".migrations."
        if FilePaths.begins(path, with: ownFiles) {
            throw refusal(of: named, because: "it belongs to the state")
        }
        let folder = FilePaths.parent(path)
        try refuseForeign(folder, named: named)
        try refuseForeign(path, named: named)
        try requireReplaceable(path, in: folder, named: named)
        if let reason = try FilePaths.escapes(path) { throw refusal(of: named, because: reason) }
    }

    /// Refuses an item that a restore could not replace.
    private func requireReplaceable(_ path: String, in folder: String, named: String) throws {
        guard let folderStatus = try Platform.status(folder) else { return }
        for place in try [folder] + Snapshot.parts(of: path) {
            if let word = try Platform.wordIfUnchangeable(place) {
                throw refusal(of: named, because: "\(place) is \(word)")
            }
        }
        let status = try Platform.status(path)
        if let status, status.kind == .directory, try !Platform.mayWrite(folder) {
            // This folder can't be moved, so its entries are restored one by one. Its owner can make it
            // writable.
            guard let error = try Platform.refusalOfWriting(path) else { return }
            if error.isDenied, Platform.isOwn(status) { return }
            throw refusal(
                of: named,
                because: "neither it nor the folder that it is in can be written to: \(error)"
            )
        }
        if try !Platform.mayWrite(folder, andRead: true) {
            throw refusal(of: named, because: "this user can't read \(folder) and write to it")
        }
        guard let status, status.kind != .directory else { return }
        // In a folder with the sticky bit, only the owner of a file and the owner of the folder may rename
        // the file (rename(2)).
        let isSticky = folderStatus.permissions & 0o1000 != 0
        if isSticky, !Platform.isRoot, !Platform.isOwn(folderStatus), !Platform.isOwn(status) {
            throw refusal(
                of: named,
                because:
                    "it belongs to another user, and only the owners of files in \(folder) can rename them"
            )
        }
    }

    /// Refuses an entry of a protected path that can't be copied, or that a restore could not replace.
    func requireCopyable(_ entry: FileTree.Entry, in path: String) throws {
        let isTop = entry.below.isEmpty
        let isFolder = entry.status.kind == .directory
        if let word = entry.status.kind.wordIfSpecial {
            throw refusal(of: path, because: "\(entry.path) is \(word), which can't be copied")
        }
        // If the protected folder itself is a mount point, its entries are restored one by one. A mounted
        // file can't be removed (unlink(2)).
        if !(isFolder && isTop), try Platform.isMountPoint(entry.path, status: entry.status) {
            throw refusal(of: path, because: "a file system or a file is mounted at \(entry.path)")
        }
        if entry.status.kind == .file, try StateRecognition.isState(file: entry.path) {
            throw refusal(of: path, because: "the state of a manager is in it, \(entry.path)")
        }
        if isFolder { try refuseForeign(entry.path, named: path) }
    }

    /// The owner of another user's folder, if this process is root's; else `nil`.
    ///
    /// Root must not work in such a folder, because its owner could lead root elsewhere by a link.
    private func foreignOwner(of folder: String) throws -> UInt32? {
        guard Platform.isRoot, let owner = try Platform.status(folder)?.owner, owner != 0 else { return nil }
        return owner
    }

    private func refuseForeign(_ folder: String, named: String) throws {
        guard let owner = try foreignOwner(of: folder) else { return }
        throw refusal(
            of: named,
            because: "\(folder) belongs to user \(Int(owner)), and this process is root's"
        )
    }
}
