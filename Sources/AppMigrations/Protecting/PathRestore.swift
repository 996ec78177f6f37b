/// The restore of one protected path from its folder in the snapshot.
///
/// The folder contains:
/// ```text
/// entries-<count>   how many entries the copies have; renamed to `begun` before the first copy leaves
/// item              the copy; with `-wal`, `-shm` and `-journal` the copies of a database's companions
/// absent            an empty file if nothing existed at the path; the same with the companions' suffixes
/// replaced-<n>      an item that the restore replaced, or a copy that it restored to another file system
/// item.entries      the copy of a folder that can't be moved, so that its entries are restored one by one
/// model             an empty folder with the owner, permissions, attributes and times of a protected folder
/// ….spent           a mark or copy that was restored, and isn't moved to the path
/// ```
///
/// The restore of a copy is a rename to its path. So a copy that is still in the folder isn't restored yet.
/// This is how a restore that was killed continues, and it touches nothing that was restored before: the app
/// may have written to it since.
struct PathRestore {
    /// A copy or mark, as a path below the folder of copies, and the path to which it belongs.
    private typealias Piece = (item: String, place: String)

    private let place: String
    private let copies: String
    private let keepsReplaced: Bool
    private let report: CopyReport
    private var lastReplaced = 0

    /// The paths of replaced files that must be kept and could not be moved into the snapshot.
    ///
    /// They were renamed instead.
    private(set) var renamedInPlace: [String] = []

    /// - Parameters:
    ///   - place: The path to restore.
    ///   - copies: Its folder in the snapshot.
    ///   - keepsReplaced: True to keep everything that is replaced, because the state directory was moved and
    ///     nobody knows what was at its new place.
    ///   - report: Gets the progress if files have to be copied to another file system.
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
        // The restore of its entries has changed a folder's time, and a restore that was killed may have made
        // it writable.
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
            // A spent mark counts too. If a companion didn't exist at the take and exists now, it doesn't
            // belong to the restored database.
            let isAbsent = try exists("/absent" + companion) || exists("/absent\(companion).spent")
            return isAbsent ? ("/absent" + companion, place + companion) : nil
        }
    }

    /// Removes the files that were replaced, except those that must be kept.
    func removeReplaced() throws(SystemCallError) {
        if keepsReplaced { return }
        for path in try Self.replacedPaths(in: copies) where try !StateRecognition.containsState(at: path) {
            try Platform.removeTree(path)
        }
    }

    /// The paths of the files that a restore replaced, in a folder of copies.
    static func replacedPaths(in copies: String) throws(SystemCallError) -> [String] {
        try Platform.names(in: copies).filter { $0.hasPrefix(replaced) }.map { copies + "/" + $0 }
    }

    /// The name of the file that says that copies may be missing because they were restored.
    static let begun = "/begun"

    private static let replaced = "replaced-"

    /// Restores a path together with its companions.
    ///
    /// - Returns: False for a protected folder that can't be moved. Nothing was changed then.
    private mutating func restore(_ pieces: [Piece]) throws -> Bool {
        // The database is moved away first and restored last, so that nobody can open an old database with a
        // new `-wal`.
        for piece in pieces where try !moveAside(piece.place) { return false }
        try noteBegin()
        if let first = pieces.first { try synchronizeIfPresent(FilePaths.parent(first.place), copies) }
        for piece in pieces.reversed() { try move([piece]) }
        return true
    }

    /// Notes that copies may be missing from now on because they were restored.
    ///
    /// It takes no space on the disk, which the closure may have filled: a file is renamed.
    private func noteBegin() throws {
        for name in try Platform.names(in: copies) where name.hasPrefix("entries-") {
            try Platform.replace(copies + Self.begun, with: copies + "/" + name)
        }
    }

    /// Restores the entries of a folder that can't be moved, one by one.
    private mutating func restoreEntries() throws {
        let items = copies + "/item.entries"
        if try !Platform.exists(at: items) {
            for name in try Platform.nameBytes(in: place) {
                let path = (place + "/").utf8CString.dropLast() + name
                _ = try moveAside(Array(path), path: place + "/" + Platform.readable(name))
            }
            // After the rename to `item.entries`, entries of the folder may be restored ones. So a restore
            // that continues moves only those aside whose copy is still here.
            try noteBegin()
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
        for piece in pieces { _ = try moveAside(piece.place) }
        try synchronizeIfPresent(place, copies)
        // A mount point can have thousands of entries, so they are synced together. The companions of
        // databases come first.
        try move(pieces.filter { Self.isCompanion($0.place) })
        try move(pieces.filter { !Self.isCompanion($0.place) })
        try Platform.replace(copies + "/item.spent", with: items)
        try synchronizeIfPresent(copies)
    }

    private static func isCompanion(_ path: String) -> Bool {
        Snapshot.companions.dropFirst().contains { path.hasSuffix($0) }
    }

    private mutating func moveAside(_ path: String) throws -> Bool {
        try moveAside(Array(path.utf8CString), path: path)
    }

    /// Moves the item at a path into the snapshot, to be removed after the restore.
    ///
    /// If the snapshot is on another file system, the item can't be moved and is removed at once. That is
    /// safe, because the copy that replaces it is still in the snapshot.
    ///
    /// `bytes` are those of the path, which need not be UTF-8, and a NUL. `path` is for errors.
    ///
    /// - Returns: False if it is the protected folder itself and can't be moved, because it is a mount point
    ///   or a sandbox container, is on another file system, or is in a folder that this user can't write to.
    ///   Nothing was changed then.
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

    /// Copies an item of another file system into the snapshot.
    ///
    /// The caller then removes the original.
    ///
    /// If it can't be copied, because of a name that isn't UTF-8 or for lack of space, it is renamed and
    /// stays where it is.
    private mutating func keep(_ bytes: [CChar], path: String) throws {
        let copy = try nextReplaced()
        do {
            // If the name isn't UTF-8, `path` is that of another file.
            if Array(path.utf8CString) != bytes { throw SystemCallError.unsupported(path) }
            try FileTree(at: path).copy(to: copy, by: FileCopier())
            try FileTree.synchronize([copy])
            try synchronizeIfPresent(copies)
        } catch {
            do {
                try Platform.removeTree(copy)
            } catch {
                // An incomplete copy is removed with the snapshot.
            }
            var number = 1
            while try Platform.exists(at: "\(path).\(Self.replaced)\(number)") { number += 1 }
            let kept = "\(path).\(Self.replaced)\(number)"
            try Platform.move(bytes, to: kept, failing: path)
            renamedInPlace.append(kept)
        }
    }

    /// Moves pieces of one folder to their paths, where nothing exists, and syncs them.
    private mutating func move(_ pieces: [Piece]) throws {
        guard let first = pieces.first else { return }
        let folder = FilePaths.parent(first.place)
        var isOnOtherFileSystem: [Piece] = []
        for piece in pieces where try !rename(piece) { isOnOtherFileSystem.append(piece) }
        if !isOnOtherFileSystem.isEmpty {
            try copy(isOnOtherFileSystem, into: folder)
            for piece in isOnOtherFileSystem {
                let item = copies + piece.item
                try Platform.makeWritable(item, status: FileStatus(ofEntry: item))
                try moveIntoSnapshot(Array(item.utf8CString), path: item)
            }
        }
        try synchronizeIfPresent(folder, FilePaths.parent(copies + first.item))
    }

    /// Renames a copy to its path, or the mark of an absent file to its spent name.
    ///
    /// - Returns: False if the path is on another file system. The copy is unchanged then.
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

    /// Copies items of the snapshot to their paths in a folder on another file system, durably.
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
            // Nothing orders the changes of two file systems. So these names are durable before a copy counts
            // as restored.
            try synchronizeIfPresent(folder)
        }
    }

    /// Moves an item into the snapshot, also if it is immutable and this user may change that.
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
    /// It is a rename, because the closure may have filled the disk.
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

    /// Syncs the names in folders.
    ///
    /// A folder that doesn't exist contained nothing before the migration and contains nothing now.
    private func synchronizeIfPresent(_ folders: String...) throws {
        for folder in folders { _ = try Platform.ignoringMissing(Platform.synchronize(folder)) }
    }
}
