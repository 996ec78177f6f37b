/// One protected path that is put back from its folder in the snapshot.
///
/// ```text
/// entries-<count>   how many files the copy has; `begun` once one of them may have been put back
/// item, absent      what stood there, or that nothing did; the same with `-wal`, `-shm` and `-journal` beside a file
/// replaced          what stood there at the restore
/// item.entries      a folder that can't be moved as a whole: what is in it is put back one by one
/// ….spent           what is done, where no rename to its place says so
/// ```
struct PutBack {
    private let place: String
    private let copies: String
    private let isFolder: Bool

    init(_ place: String, from copies: String) throws {
        (self.place, self.copies) = (place, copies)
        isFolder = try Platform.status(copies + "/item")?.kind == .directory
    }

    func run() throws {
        if try stands("/item.entries") { return try putBackEntries() }
        // The database comes back last of all.
        if try !stands("/item"), try !stands("/absent") { return }
        // A file that was made beside the missing database since then is no part of the old one.
        let unspent = try Snapshot.companions.filter {
            try stands("/item" + $0) || stands("/absent" + $0) || stands("/absent\($0).spent")
        }
        if try stands("/item") {
            try Platform.makeDirectories(FilePaths.parent(place))
        } else if try !Platform.stands(FilePaths.parent(place)) {
            // Nothing was there, and nothing is.
            try begin()
            try Platform.replace(copies + "/absent.spent", with: copies + "/absent")
            return try Platform.synchronizeDirectory(copies)
        }
        do {
            // The database goes first of all, and comes back last, so that nobody can open an old database with a new `-wal`.
            for companion in unspent { try setAside(place + companion, as: "/replaced" + companion) }
            try begin()
            try synchronize(FilePaths.parent(place))
            for companion in unspent.reversed() {
                let (item, mark) = ("/item" + companion, copies + "/absent" + companion)
                if try stands(item) {
                    try move(item, to: place + companion, orSpend: item + ".spent")
                } else if try Platform.stands(mark) {
                    try Platform.replace(mark + ".spent", with: mark)
                }
                try synchronize(FilePaths.parent(place))
            }
        } catch is KeptFolder {
            try setEntriesAside()
            try putBackEntries()
        }
    }

    static let begun = "/begun"

    /// Says that a copy that is gone has been put back; by a rename, since the closure may have filled the disk.
    private func begin() throws {
        for name in try Platform.names(in: copies) where name.hasPrefix("entries-") {
            try Platform.replace(copies + Self.begun, with: copies + "/" + name)
        }
    }

    /// A protected folder that can't be moved as a whole: a mount point, a sandbox's folder, one on another file system, or one in a
    /// folder that this user may not change.
    private struct KeptFolder: Error {}

    /// Moves what is in the folder into the snapshot, and then lets what was in it be put back.
    private func setEntriesAside() throws {
        if try Platform.status(place)?.kind != .directory {
            try setAside(place, as: "/replaced")
            try Platform.makeDirectory(place)
        }
        // The folder stays, and gets back what it had of its own: a folder's time changes with what is in it.
        try make("/model")
        try Platform.copyAttributes(ofFolder: copies + "/item", to: copies + "/model")
        try make("/replaced.entries")
        for name in try Platform.names(in: place, strictly: true) {
            try setAside(place + "/" + name, as: "/replaced.entries/" + name)
        }
        try Platform.synchronizeDirectory(copies + "/replaced.entries")
        try synchronize(place)
        // From here on what is in the folder may have been put back, and only what has the name of something unspent goes.
        try begin()
        try Platform.replace(copies + "/item.entries", with: copies + "/item")
        try Platform.synchronizeDirectory(copies)
    }

    private func putBackEntries() throws {
        let items = copies + "/item.entries"
        try make("/spent")
        for folder in [items, place] { try open(folder, FileStatus(ofEntry: folder)) }
        for name in try Platform.names(in: items, strictly: true) {
            try setAside(place + "/" + name, as: "/replaced.entries/" + name)
            try move("/item.entries/" + name, to: place + "/" + name, orSpend: "/spent/" + name)
            try synchronize(place)
            try Platform.synchronizeDirectory(items)
        }
        try Platform.copyAttributes(ofFolder: copies + "/model", to: place)
        try Platform.replace(copies + "/item.spent", with: items)
        try synchronize(place)
    }

    /// Moves what stands at a path into the snapshot.
    ///
    /// On another file system there is no place for it, and it is removed: what is put back there is still in the snapshot.
    private func setAside(_ path: String, as name: String) throws {
        guard let status = try Platform.companion(path) else { return }
        try open(path, status)
        var (free, number) = (name, 2)
        while try stands(free) { (free, number) = ("\(name).\(number)", number + 1) }
        if try rename(path, to: copies + free, path, status) { return }
        let tree = try FileTree(path, to: .remove)
        if tree.state != nil { throw Platform.mounted(path) }
        try tree.remove()
    }

    /// Moves an item to its place, where nothing stands; on another file system it is copied there and then spent.
    private func move(_ name: String, to path: String, orSpend spent: String) throws {
        let item = copies + name
        guard let status = try Platform.status(item) else { return }
        let isOpened = try open(item, status)
        let moved = Result { try rename(item, to: path, path, status) }
        if isOpened { try Platform.setPermissions(stands(name) ? item : path, status.permissions) }
        if try moved.get() { return }
        try FileTree(item).copy(to: path)
        try FileTree(path).synchronize()
        // Nothing orders the names of two file systems: this one is durable before the copy counts as spent.
        try Platform.synchronizeDirectory(FilePaths.parent(path))
        try open(item, status)
        try Platform.replace(copies + spent, with: item)
    }

    /// Moves what stands at `path`, or is to stand there; `false` where one of the two is on another file system.
    private func rename(_ old: String, to new: String, _ path: String, _ status: FileStatus) throws -> Bool {
        do throws(SystemCallError) {
            try Platform.replace(new, with: old)
            return true
        } catch {
            if isFolder, status.kind == .directory, path == place, Platform.keepsFolder(error) {
                throw KeptFolder()
            }
            if Platform.isOtherFileSystem(error) { return false }
            throw error.at(path)
        }
    }

    /// Lets the owner change a folder: without the right to write to it, it can't get another folder above it (rename(2)).
    @discardableResult
    private func open(_ path: String, _ status: FileStatus) throws -> Bool {
        if status.kind != .directory || status.permissions & 0o700 == 0o700 { return false }
        try Platform.setPermissions(path, status.permissions | 0o700)
        return true
    }

    private func stands(_ name: String) throws -> Bool { try Platform.stands(copies + name) }

    private func make(_ name: String) throws {
        if try !stands(name) { try Platform.makeDirectory(copies + name) }
    }

    private func synchronize(_ folder: String) throws {
        try Platform.synchronizeDirectory(folder)
        try Platform.synchronizeDirectory(copies)
    }
}
