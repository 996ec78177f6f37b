/// Restores one protected path from its folder in the snapshot.
///
/// When the copies have been made, the folder contains:
/// ```text
/// item              the copy of the item at the path; `item-wal`, `item-shm` and `item-journal` are
///                   the copies of the files that SQLite keeps next to a database
/// absent            an empty file, if nothing existed at the path; `absent-wal` and so on say the same of
///                   the files that SQLite keeps next to a database
/// model             an empty folder with the owner, permissions, extended attributes and times of the
///                   protected folder
/// entries-<count>   an empty file, with the number of copied entries in its name
/// ```
///
/// A restore renames and adds:
/// ```text
/// begun             `entries-<count>`, renamed before the restore moves the first copy out of this folder
/// item.entries      `item`, renamed if the protected folder can't be moved; its entries are restored one by
///                   one
/// replaced-<n>      an item that was at the path before the restore, or a copy that is no longer needed
///                   because its contents were copied to another file system
/// ….spent           `absent`, `model` or an emptied `item.entries`, renamed after it was used
/// ```
///
/// A copy is restored by renaming it to its path. So a copy that is still in this folder hasn't been restored
/// yet. If the process is killed, the next restore continues with the copies that are left. It doesn't touch
/// files that were already restored, because the app may have written to them since.
struct PathRestore {
    /// A copy or a marker in the snapshot, and the path that is restored from it.
    ///
    /// `item` is the path of the copy below `copies` and begins with a slash.
    private typealias Piece = (item: String, place: String)

    private let place: String
    private let copies: String
    private let keepsReplaced: Bool
    private let report: CopyReport
    private var lastReplaced = 0

    /// The paths to which replaced files were renamed if they must be kept and could not be moved into the
    /// snapshot.
    ///
    /// The renamed files stay in their folders.
    private(set) var renamedInPlace: [String] = []

    /// - Parameters:
    ///   - place: The path to restore.
    ///   - copies: Its folder in the snapshot.
    ///   - keepsReplaced: Whether to keep everything that the restore replaces. It is true after a crash, if
    ///     the option `keepsReplacedFiles` is set or if the state is being forgotten. It is also true if the
    ///     state directory was moved, because then the files at the new paths may have nothing to do with
    ///     the app.
    ///   - report: Is called with the progress, but only if files have to be copied to another file system.
    init(
        of place: String,
        from copies: String,
        keepingReplaced keepsReplaced: Bool,
        reportingTo report: @escaping CopyReport
    ) {
        self.place = place
        self.copies = copies
        self.keepsReplaced = keepsReplaced
        self.report = report
    }

    mutating func run() throws {
        if try exists("/item") || exists("/absent") {
            if try !restore(pieces()) { try restoreEntries() }
        } else if try exists("/item.entries") {
            try restoreEntries()
        }
        // Restoring the entries changed the folder's modification time, and an earlier restore that was
        // killed may have left the folder writable. So the folder's attributes are copied from `model`.
        guard try exists("/model"), try Platform.status(place)?.kind == .directory else { return }
        try Platform.copyAttributes(ofFolder: copies + "/model", to: place)
        try synchronizeIfPresent(place)
        try Platform.replace(copies + "/model.spent", with: copies + "/model")
        try synchronizeIfPresent(copies)
    }

    private func pieces() throws -> [Piece] {
        if try exists("/item") { try Platform.makeDirectories(FilePaths.parent(place)) }
        return try Snapshot.companions.compactMap { companion in
            if try exists("/item" + companion) { return ("/item" + companion, place + companion) }
            // A used marker (`.spent`) means the same as a marker: the companion file didn't exist. If it
            // exists now, it doesn't belong to the restored database and must be moved aside.
            let isAbsent = try exists("/absent" + companion) || exists("/absent\(companion).spent")
            return isAbsent ? ("/absent" + companion, place + companion) : nil
        }
    }

    /// Removes the files that the restore replaced, except files that must be kept.
    func removeReplaced() throws(SystemCallError) {
        if keepsReplaced { return }
        for path in try Self.replacedPaths(in: copies) where try !StateRecognition.containsState(at: path) {
            try Platform.removeTree(path)
        }
    }

    /// The paths in the snapshot's folder `copies` to which a restore has moved the items that it replaced.
    static func replacedPaths(in copies: String) throws(SystemCallError) -> [String] {
        try Platform.names(in: copies).filter { $0.hasPrefix(replaced) }.map { copies + "/" + $0 }
    }

    /// The name of the marker that a restore creates before it moves the first copy.
    ///
    /// If it exists, copies may be missing because they were already restored.
    static let begun = "/begun"

    private static let replaced = "replaced-"

    /// Restores a path together with its companions (the files that SQLite keeps next to a database).
    ///
    /// - Returns: False for a protected folder that can't be moved. In that case, nothing was moved.
    private mutating func restore(_ pieces: [Piece]) throws -> Bool {
        // SQLite plays a `-wal` file back into any database that is next to it. So the current database is
        // moved aside before its companions, and its copy is moved back after the copies of the companions.
        // At no moment is a database next to a companion of the other database.
        for piece in pieces where try !moveAside(piece.place) { return false }
        try markAsBegun()
        if let first = pieces.first { try synchronizeIfPresent(FilePaths.parent(first.place), copies) }
        for piece in pieces.reversed() { try move([piece]) }
        return true
    }

    /// Records that the restore has begun: from now on, copies may be missing because they were restored.
    ///
    /// This renames a file instead of writing one, because the migration's closure may have filled the disk.
    private func markAsBegun() throws {
        for name in try Platform.names(in: copies) where name.hasPrefix("entries-") {
            try Platform.replace(copies + Self.begun, with: copies + "/" + name)
        }
    }

    /// Restores the entries of a folder that can't be moved, one by one.
    ///
    /// Databases are moved aside before their companions, and restored after them, for the reason given in
    /// ``restore(_:)``.
    private mutating func restoreEntries() throws {
        let items = copies + "/item.entries"
        if try !Platform.exists(at: items) {
            let names = try Platform.nameBytes(in: place)
            let companions = names.filter { Self.isCompanion(Platform.readable($0)) }
            for name in names.filter({ !Self.isCompanion(Platform.readable($0)) }) + companions {
                let path = (place + "/").utf8CString.dropLast() + name
                _ = try moveAside(Array(path), path: place + "/" + Platform.readable(name))
            }
            // `item` is renamed to `item.entries` only after all current entries were moved aside. If a
            // restore finds `item.entries`, the protected folder may contain restored entries. So it then
            // moves an entry aside only if its copy is still in the snapshot.
            try markAsBegun()
            try synchronizeIfPresent(place, copies)
            try Platform.replace(items, with: copies + "/item")
            try synchronizeIfPresent(copies)
        }
        try Platform.makeDirectories(place)
        for folder in [items, place] {
            try Platform.makeWritable(folder, status: FileStatus(ofEntry: folder))
        }
        let pieces = try Platform.names(in: items, strictly: true).map { name in
            Piece(item: "/item.entries/" + name, place: place + "/" + name)
        }
        let companions = pieces.filter { Self.isCompanion($0.place) }
        let others = pieces.filter { !Self.isCompanion($0.place) }
        for piece in others + companions { _ = try moveAside(piece.place) }
        try synchronizeIfPresent(place, copies)
        // The folder may be a mount point with thousands of entries. So they are all moved first, and then
        // synced together.
        try move(companions)
        try move(others)
        try Platform.replace(copies + "/item.spent", with: items)
        try synchronizeIfPresent(copies)
    }

    private static func isCompanion(_ path: String) -> Bool {
        Snapshot.companions.dropFirst().contains { path.hasSuffix($0) }
    }

    private mutating func moveAside(_ path: String) throws -> Bool {
        try moveAside(Array(path.utf8CString), path: path)
    }

    /// Moves the item at a path into the snapshot, which is removed after the restore.
    ///
    /// If the snapshot is on another file system, the item can't be moved, so it is removed at once. If it
    /// must be kept, it is copied into the snapshot before that. Removing it is safe, because the copy that
    /// will replace it is still in the snapshot.
    ///
    /// `bytes` is the path as a NUL-terminated C string, which need not be UTF-8. `path` is for error
    /// messages.
    ///
    /// - Returns: False if the item is the protected folder itself and can't be moved. It may be a mount
    ///   point or a sandbox container, it may be on another file system, or this user may not write to its
    ///   parent folder. In that case, nothing was moved.
    private mutating func moveAside(_ bytes: [CChar], path: String) throws -> Bool {
        guard let status = try Platform.statusIfPresent(bytes, path: path) else { return true }
        try Platform.makeWritable(bytes, status: status, path: path)
        do throws(SystemCallError) {
            try moveIntoSnapshotEvenIfImmutable(bytes, path: path)
            return true
        } catch {
            if status.kind == .directory, FilePaths.isSame(path, place), error.leavesEntriesMovable,
                try Platform.status(copies + "/item")?.kind == .directory
            {
                return false
            }
            if !error.isOtherFileSystem { throw error }
        }
        if try keepsReplaced || StateRecognition.containsState(at: bytes, path: path) {
            try keep(bytes, path: path)
        }
        try Platform.removeTree(bytes, path: path)
        return true
    }

    /// Copies an item that must be kept and is on another file system into the snapshot.
    ///
    /// The caller then removes the original. If the item can't be copied, it is renamed instead and stays in
    /// its own folder. Copying fails if a name isn't UTF-8, or if there isn't enough space.
    private mutating func keep(_ bytes: [CChar], path: String) throws {
        let copy = try nextReplaced()
        do {
            // If the name isn't UTF-8, `path` has replacement characters in it and names a different file.
            if Array(path.utf8CString) != bytes { throw SystemCallError.unsupported(path) }
            try FileTree(at: path).copy(to: copy, by: FileCopier())
            try FileTree.synchronize([copy])
            try synchronizeIfPresent(copies)
        } catch {
            do {
                try Platform.removeTree(copy)
            } catch {
                // Leave the incomplete copy where it is. It is removed together with the snapshot.
            }
            var number = 1
            while try Platform.exists(at: "\(path).\(Self.replaced)\(number)") { number += 1 }
            let kept = "\(path).\(Self.replaced)\(number)"
            try Platform.move(bytes, to: kept, failing: path)
            renamedInPlace.append(kept)
        }
    }

    /// Moves copies to their paths, and syncs the folder of the paths and the folder of the copies.
    ///
    /// The paths must all be in one folder, and nothing may exist at them.
    private mutating func move(_ pieces: [Piece]) throws {
        guard let first = pieces.first else { return }
        let folder = FilePaths.parent(first.place)
        var onOtherFileSystem: [Piece] = []
        for piece in pieces where try !rename(piece) { onOtherFileSystem.append(piece) }
        if !onOtherFileSystem.isEmpty {
            try copy(onOtherFileSystem, into: folder)
            for piece in onOtherFileSystem {
                let item = copies + piece.item
                try Platform.makeWritable(item, status: FileStatus(ofEntry: item))
                try moveIntoSnapshot(Array(item.utf8CString), path: item)
            }
        }
        try synchronizeIfPresent(folder, FilePaths.parent(copies + first.item))
    }

    /// Renames a copy to its path, or adds `.spent` to the name of an absent file's marker.
    ///
    /// - Returns: False if the path is on another file system. In that case, the copy is unchanged.
    private func rename(_ piece: Piece) throws -> Bool {
        let item = copies + piece.item
        guard let status = try Platform.status(item) else { return true }
        if piece.item.hasPrefix("/absent") {
            try Platform.replace(item + ".spent", with: item)
            return true
        }
        let wasMadeWritable = try Platform.makeWritable(item, status: status)
        var failure: SystemCallError?
        do throws(SystemCallError) {
            try Platform.replace(piece.place, with: item)
        } catch {
            failure = error
        }
        if wasMadeWritable {
            try Platform.setPermissions(of: failure == nil ? piece.place : item, status.permissions)
        }
        guard let failure else { return true }
        if !failure.isOtherFileSystem { throw failure }
        return false
    }

    /// Copies items of the snapshot to a folder on another file system, and syncs them to disk.
    private func copy(_ pieces: [Piece], into folder: String) throws {
        try FileSystemFlush.opening(folder) { flush in
            let trees = try pieces.map { try FileTree(at: copies + $0.item) }
            let total = trees.reduce(0) { $0 + $1.cost }
            let copier = FileCopier()
            var done = 0.0
            for (tree, piece) in zip(trees, pieces) {
                do {
                    try tree.copy(to: piece.place, by: copier) { _, cost in
                        report(min(done / total, 1), "restoring \(piece.place)")
                        done += cost
                    }
                } catch let error as SystemCallError {
                    throw error.moved(from: copies + piece.item, to: piece.place)
                }
            }
            try FileTree.synchronize(pieces.map(\.place), by: flush)
            // Changes on two file systems can reach the disk in either order. So the folder of the new files
            // is synced before the caller moves the copies to `replaced-<n>`, which means that they are
            // restored.
            try synchronizeIfPresent(folder)
        }
    }

    /// Moves an item into the snapshot.
    ///
    /// If the item is immutable, it is made mutable first, if this user may do that.
    private mutating func moveIntoSnapshotEvenIfImmutable(_ bytes: [CChar], path: String)
        throws(SystemCallError)
    {
        do throws(SystemCallError) {
            try moveIntoSnapshot(bytes, path: path)
        } catch {
            guard error.isNotPermitted, Platform.makeMutable(bytes) else { throw error }
            try moveIntoSnapshot(bytes, path: path)
        }
    }

    /// Moves an item into the snapshot, which is removed after the restore.
    ///
    /// The item is renamed and not copied, because the closure may have filled the disk.
    private mutating func moveIntoSnapshot(_ bytes: [CChar], path: String) throws(SystemCallError) {
        try Platform.move(bytes, to: nextReplaced(), failing: path)
    }

    private mutating func nextReplaced() throws(SystemCallError) -> String {
        repeat {
            lastReplaced += 1
        } while try Platform.exists(at: "\(copies)/\(Self.replaced)\(lastReplaced)")
        return "\(copies)/\(Self.replaced)\(lastReplaced)"
    }

    private func exists(_ name: String) throws -> Bool { try Platform.exists(at: copies + name) }

    /// Syncs folders, so that the names in them are durable.
    ///
    /// A folder that doesn't exist is skipped, because it contains no names.
    private func synchronizeIfPresent(_ folders: String...) throws {
        for folder in folders { _ = try Platform.ignoringMissing(Platform.synchronize(folder)) }
    }
}
