/// One protected path that is put back from its folder in the snapshot, for ``SavedFiles/putBack()``, which ``LockedState`` calls.
///
/// ```text
/// entries-<count>   how many files the copy has; `begun` once one of them may have been put back
/// item, absent      what stood there, or that nothing did; the same with `-wal`, `-shm` and `-journal` beside a file
/// replaced-<n>      what stood there at the restore, and a copy that is back on another file system
/// item.entries      a folder that can't be moved as a whole: what is in it is put back one by one
/// model             a folder with what the protected one has of its own
/// ….spent           what is done, where no rename to its place says so
/// ```
struct PutBack {
    /// The path below the folder of copies, and where it belongs.
    private typealias Piece = (item: String, place: String)

    private let place: String
    private let copies: String
    private var lastReplaced = 0

    init(_ place: String, from copies: String) { (self.place, self.copies) = (place, copies) }

    mutating func run() throws {
        // The database comes back last of all.
        if try stands("/item") || stands("/absent") {
            if try !putBack(pieces()) { try putBackEntries() }
        } else if try stands("/item.entries") {
            try putBackEntries()
        }
        // A folder's time changes with what is in it, and a restore that was killed may have opened the folder up.
        guard try stands("/model"), try Platform.status(place)?.kind == .directory else { return }
        try Platform.copyAttributes(ofFolder: copies + "/model", to: place)
        try synchronize(place)
        try Platform.replace(copies + "/model.spent", with: copies + "/model")
        try synchronize(copies)
    }

    private func pieces() throws -> [Piece] {
        if try stands("/item") { try Platform.makeDirectories(FilePaths.parent(place)) }
        return try Snapshot.companions.compactMap { part in
            if try stands("/item" + part) { return ("/item" + part, place + part) }
            // A file that was made beside the missing database since then is no part of the old one.
            let isAbsent = try stands("/absent" + part) || stands("/absent\(part).spent")
            return isAbsent ? ("/absent" + part, place + part) : nil
        }
    }

    /// Removes what was set aside, but for what holds the state of a manager.
    func removeSetAside() throws(SystemCallError) {
        for name in try Platform.names(in: copies) where name.hasPrefix(Self.replaced) {
            let tree = try FileTree(copies + "/" + name, to: .remove)
            if tree.state == nil { try tree.remove() }
        }
    }

    static let begun = "/begun"

    /// The beginning of the names of what a restore sets aside.
    static let replaced = "replaced-"

    /// Puts things of one folder back; `false` for a folder that has to stay, of which nothing is changed.
    private mutating func putBack(_ pieces: [Piece]) throws -> Bool {
        // The database goes first of all, and comes back last, so that nobody can open an old database with a new `-wal`.
        for piece in pieces where try !setAside(piece.place) { return false }
        try begin()
        if let first = pieces.first { try synchronize(FilePaths.parent(first.place), copies) }
        for (item, place) in pieces.reversed() {
            try move(item, to: place)
            try synchronize(FilePaths.parent(place), FilePaths.parent(copies + item))
        }
        return true
    }

    /// Says that a copy that is gone has been put back; by a rename, since the closure may have filled the disk.
    private func begin() throws {
        for name in try Platform.names(in: copies) where name.hasPrefix("entries-") {
            try Platform.replace(copies + Self.begun, with: copies + "/" + name)
        }
    }

    /// Moves what is in a folder that stays into the snapshot, and puts back what was in it.
    private mutating func putBackEntries() throws {
        let items = copies + "/item.entries"
        if try !Platform.stands(items) {
            for name in try Platform.names(in: place, strictly: true) { _ = try setAside(place + "/" + name) }
            // From here on what is in the folder may have been put back, and only what has the name of something unspent goes.
            try begin()
            try synchronize(place, copies)
            try Platform.replace(items, with: copies + "/item")
            try synchronize(copies)
        }
        try Platform.makeDirectories(place)
        for folder in [items, place] { try Platform.openUp(folder, FileStatus(ofEntry: folder)) }
        let names = try Platform.names(in: items, strictly: true)
        _ = try putBack(names.map { ("/item.entries/" + $0, place + "/" + $0) })
        try Platform.replace(copies + "/item.spent", with: items)
        try synchronize(copies)
    }

    /// Moves what stands at a path into the snapshot; `false` for the protected folder, if it can't be moved as a whole: a mount
    /// point, a sandbox's folder, one on another file system, or one in a folder that this user may not change.
    ///
    /// On another file system there is no place for it, and it is removed: what is put back there is still in the snapshot.
    private mutating func setAside(_ path: String) throws -> Bool {
        guard let status = try Platform.statusIfPresent(path) else { return true }
        try Platform.openUp(path, status)
        do throws(SystemCallError) {
            try discard(path)
            return true
        } catch {
            if status.kind == .directory, path == place, Platform.keepsFolder(error),
                try Platform.status(copies + "/item")?.kind == .directory
            {
                return false
            }
            if !Platform.isOtherFileSystem(error) { throw error.at(path) }
        }
        let tree = try FileTree(path, to: .remove)
        if tree.state != nil { throw Platform.mounted(path) }
        try tree.remove()
        return true
    }

    /// Moves an item to its place, where nothing stands; on another file system it is copied there and then spent.
    private mutating func move(_ name: String, to path: String) throws {
        let item = copies + name
        guard let status = try Platform.status(item) else { return }
        if name.hasPrefix("/absent") { return try Platform.replace(item + ".spent", with: item) }
        let isOpened = try Platform.openUp(item, status)
        var failure: SystemCallError?
        do throws(SystemCallError) { try Platform.replace(path, with: item) } catch { failure = error }
        if isOpened { try Platform.setPermissions(failure == nil ? path : item, status.permissions) }
        guard let failure else { return }
        if !Platform.isOtherFileSystem(failure) { throw failure.at(path) }
        try FileTree(item).copy(to: path)
        try FileTree.synchronize([path])
        // Nothing orders the names of two file systems: this one is durable before the copy counts as spent.
        try synchronize(FilePaths.parent(path))
        try Platform.openUp(item, status)
        try discard(item)
    }

    /// Moves a thing to where it is removed at the end; a rename, since the closure may have filled the disk.
    private mutating func discard(_ path: String) throws(SystemCallError) {
        repeat { lastReplaced += 1 } while try Platform.stands("\(copies)/\(Self.replaced)\(lastReplaced)")
        try Platform.replace("\(copies)/\(Self.replaced)\(lastReplaced)", with: path)
    }

    private func stands(_ name: String) throws -> Bool { try Platform.stands(copies + name) }

    /// Syncs the names in folders, of which one may not be there: nothing was in it, and nothing is.
    private func synchronize(_ folders: String...) throws {
        for folder in folders { _ = try Platform.unless(Platform.absent, Platform.synchronize(folder)) }
    }
}
