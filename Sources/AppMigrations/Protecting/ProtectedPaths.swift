/// The paths that the app passed as `protecting:`, with links resolved.
///
/// They are checked before anything is copied: it must be possible to restore them, and no other manager may
/// be protecting them.
final class ProtectedPaths {
    /// Absolute paths, with links resolved in the folders above them.
    ///
    /// A path itself can be a link. No path is inside another.
    private(set) var paths: [String] = []

    /// The path of the state directory, with links resolved.
    ///
    /// The snapshot's list stores the paths relative to this directory. So they stay correct if the directory
    /// and the protected files are moved together.
    let stateFolder: String

    let location: StateLocation
    let version: AppVersion

    /// - Throws: ``MigrationError``, or a ``SystemCallError`` whose path is set.
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
                reason: "the state directory belongs to user \(Int(owner)), and this process runs as root"
            )
        }
    }

    /// Makes the list of these paths for the new snapshot in `folder`.
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

    /// Makes the error for a path that can't be protected.
    func refusal(of path: String, because reason: Message) -> MigrationError {
        location.protectionError(
            .copying,
            of: version,
            at: path,
            reason: "\(path.quoted) can't be protected, because \(reason)"
        )
    }
}

/// Facts about a path. They are saved in the list, and a restore compares them with the current ones.
extension ProtectedPaths {
    /// The identities of the folders above a path, the nearest first.
    ///
    /// A restore compares them, to find out whether the path still leads to the same folders. The last
    /// element is the nearest folder that also contains the state directory. An element is `nil` if that
    /// folder doesn't exist.
    ///
    /// `relative` is the path relative to the state directory. There is one element for each of its
    /// components that isn't `..`. For example, `../docs/x` has two: the folder `docs`, and the folder above
    /// it.
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

    /// The number of steps from a path up to the nearest mount point.
    ///
    /// It is 1 if the path is a mount point itself, 2 if the folder above it is a mount point, and so on. It
    /// is 0 if there is no mount point below the nearest folder that also contains the state directory.
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

    /// True if a path is the state directory, contains it, or is a link through which it is reached.
    ///
    /// `stateFolder` is the state directory with links resolved.
    static func holdsState(_ path: String, of location: StateLocation, in stateFolder: String) throws
        -> Bool
    {
        let place = try Place(path)
        return try place.contains(Place(stateFolder)) || place.contains(Place(location.directory))
    }
}

/// Finds the paths to copy for a path that the app passed.
extension ProtectedPaths {
    /// The largest number of links to follow.
    ///
    /// Linux has the same limit for one path (path_resolution(7)).
    private static var linkLimit: Int { 40 }

    /// Returns the paths to copy for a path that the app passed, and checks that they can be restored.
    ///
    /// For a link, these are several paths: a link is protected together with its target, because a closure
    /// may write through the link, or replace the link with a file.
    private func checkedPaths(of named: String) throws -> [String] {
        if let reason = FilePaths.refusal(named) { throw refusal(of: named, because: reason) }
        var found: [String] = []
        var next = try absolutePath(of: named)
        while true {
            let path = try withoutLinksAbove(next, named: named)
            let isLink = try Platform.status(path)?.kind == .link
            // If this user can't replace the link, the closure can't replace it either, and can only write
            // through it. So only the target is protected.
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

    /// Resolves the links in the folders above a path.
    ///
    /// Only the last component of the result can be a link.
    private func withoutLinksAbove(_ path: String, named: String) throws -> String {
        // If a path ends with a slash and its last component is a link, it means the link's target and not
        // the link (POSIX, 4.13 Pathname Resolution).
        let namesFolder = path.utf8.last == 0x2F
        var path = FilePaths.absolute("", from: path)
        if namesFolder, try Platform.status(path)?.kind == .link { path = try Platform.resolved(path + "/") }
        if [".", ".."].contains(FilePaths.last(path)) { path = try Platform.resolved(path) }
        let folder = try withoutLinks(FilePaths.parent(path), named: named)
        return FilePaths.joined(folder, name: FilePaths.last(path))
    }

    /// Resolves the links in the path of a folder.
    ///
    /// The folder need not exist.
    private func withoutLinks(_ folder: String, named: String) throws -> String {
        if try Platform.exists(at: folder) { return try Platform.resolved(folder) }
        let name = FilePaths.last(folder)
        // A path with `.` or `..` after a missing folder can't be resolved before that folder exists. If the
        // closure creates the folder as a link, the path leads elsewhere, and a restore would remove the
        // wrong files.
        if name == "." || name == ".." {
            throw refusal(of: named, because: "\".\" or \"..\" follows a folder in it that doesn't exist")
        }
        return FilePaths.joined(try withoutLinks(FilePaths.parent(folder), named: named), name: name)
    }
}

/// Checks that a restore will be possible, and that it will replace nothing but the protected files.
extension ProtectedPaths {
    private func check(_ path: String, named: String) throws {
        for companion in Snapshot.companions
        where try Self.holdsState(path + companion, of: location, in: stateFolder) {
            throw refusal(of: named, because: "the state directory is in it")
        }
        // The paths of the state file, its lock file and its snapshots begin with `ownFiles`.
        let ownFiles = FilePaths.joined(stateFolder, name: location.name) + ".migrations."
        if FilePaths.begins(path, with: ownFiles) {
            throw refusal(of: named, because: "this library keeps its state there")
        }
        let folder = FilePaths.parent(path)
        try refuseForeign(folder, named: named)
        try refuseForeign(path, named: named)
        try requireReplaceable(path, in: folder, named: named)
        if let reason = try FilePaths.escapes(path) { throw refusal(of: named, because: reason) }
    }

    /// Throws an error if a restore could not replace the item at a path.
    private func requireReplaceable(_ path: String, in folder: String, named: String) throws {
        guard let folderStatus = try Platform.status(folder) else { return }
        for place in try [folder] + Snapshot.parts(of: path) {
            if let word = try Platform.wordIfUnchangeable(place) {
                throw refusal(of: named, because: "\(place) is \(word)")
            }
        }
        let status = try Platform.status(path)
        if let status, status.kind == .directory, try !Platform.mayWrite(folder) {
            // The protected folder can't be moved, because this user can't write to its parent folder. So its
            // entries are restored one by one. For that, this user must be able to write to the protected
            // folder. If the user owns it, the restore can add the permission.
            guard let error = try Platform.refusalOfWriting(path) else { return }
            if error.isDenied, Platform.isOwn(status) { return }
            throw refusal(
                of: named,
                because: "neither it nor the folder that it is in can be written to: \(error)"
            )
        }
        if try !Platform.mayWrite(folder, andRead: true) {
            throw refusal(of: named, because: "this user can't both read \(folder) and write to it")
        }
        guard let status, status.kind != .directory else { return }
        // In a folder with the sticky bit, only the owner of a file and the owner of the folder can rename
        // the file (rename(2)).
        let isSticky = folderStatus.permissions & 0o1000 != 0
        if isSticky, !Platform.isRoot, !Platform.isOwn(folderStatus), !Platform.isOwn(status) {
            throw refusal(
                of: named,
                because:
                    "it belongs to another user, and \(folder) has the sticky bit, so this user can't rename it"
            )
        }
    }

    /// Throws an error if an entry inside a protected path can't be copied, or can't be restored.
    func requireCopyable(_ entry: FileTree.Entry, in path: String) throws {
        let isTop = entry.below.isEmpty
        let isFolder = entry.status.kind == .directory
        if let word = entry.status.kind.wordIfSpecial {
            throw refusal(of: path, because: "\(entry.path) is \(word), which can't be copied")
        }
        // The protected folder itself may be a mount point, because its entries are then restored one by one.
        // A mount point inside it, and a mounted file, can't be moved or removed (unlink(2)).
        if !(isFolder && isTop), try Platform.isMountPoint(entry.path, status: entry.status) {
            throw refusal(of: path, because: "a file system or a file is mounted at \(entry.path)")
        }
        if entry.status.kind == .file, try StateRecognition.isState(file: entry.path) {
            throw refusal(of: path, because: "it contains the state of a manager, \(entry.path)")
        }
        if isFolder { try refuseForeign(entry.path, named: path) }
    }

    /// The owner of a folder, if this process runs as root and root doesn't own the folder; otherwise `nil`.
    ///
    /// Root must not change files in such a folder. Its owner could put a link there and redirect root's
    /// changes to other files.
    private func foreignOwner(of folder: String) throws -> UInt32? {
        guard Platform.isRoot, let owner = try Platform.status(folder)?.owner, owner != 0 else { return nil }
        return owner
    }

    private func refuseForeign(_ folder: String, named: String) throws {
        guard let owner = try foreignOwner(of: folder) else { return }
        throw refusal(
            of: named,
            because: "\(folder) belongs to user \(Int(owner)), and this process runs as root"
        )
    }
}
