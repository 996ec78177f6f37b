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
    /// True if everything that is replaced is kept: nobody knows what was at a place that the state directory came to.
    private let keepsReplaced: Bool
    private let report: CopyReport
    private var lastReplaced = 0

    /// What could not be moved into the snapshot and must not be removed: it is beside its place, under another name.
    private(set) var keptBeside: [String] = []

    init(
        _ place: String,
        from copies: String,
        keepingReplaced keepsReplaced: Bool,
        _ report: @escaping CopyReport
    ) {
        self.place = place
        self.copies = copies
        self.keepsReplaced = keepsReplaced
        self.report = report
    }

    mutating func run() throws {
        // The database comes back last of all.
        if try exists("/item") || exists("/absent") {
            if try !putBack(pieces()) { try putBackEntries() }
        } else if try exists("/item.entries") {
            try putBackEntries()
        }
        // A folder's time changes with what is in it, and a restore that was killed may have made the folder writable.
        guard try exists("/model"), try Platform.status(place)?.kind == .directory else { return }
        try Platform.copyAttributes(ofFolder: copies + "/model", to: place)
        try synchronize(place)
        try Platform.replace(copies + "/model.spent", with: copies + "/model")
        try synchronize(copies)
    }

    private func pieces() throws -> [Piece] {
        if try exists("/item") { try Platform.makeDirectories(FilePaths.parent(place)) }
        return try Snapshot.companions.compactMap { part in
            if try exists("/item" + part) { return ("/item" + part, place + part) }
            // A file that was made beside the missing database since then is no part of the old one.
            let isAbsent = try exists("/absent" + part) || exists("/absent\(part).spent")
            return isAbsent ? ("/absent" + part, place + part) : nil
        }
    }

    /// Removes what was set aside, except what must not be removed.
    func removeSetAside() throws(SystemCallError) {
        if keepsReplaced { return }
        for path in try Self.setAside(in: copies) where try !StateRecognition.isStateIn(path) {
            try Platform.removeTree(path)
        }
    }

    /// The paths of what a restore set aside in a folder of copies.
    static func setAside(in copies: String) throws(SystemCallError) -> [String] {
        var paths: [String] = []
        for name in try Platform.names(in: copies) where name.hasPrefix(replaced) {
            paths.append(copies + "/" + name)
        }
        return paths
    }

    static let begun = "/begun"

    /// The beginning of the names of what a restore sets aside.
    private static let replaced = "replaced-"

    /// Puts a path back with what SQLite keeps beside it; false for a folder that has to stay, of which nothing is changed.
    private mutating func putBack(_ pieces: [Piece]) throws -> Bool {
        // The database goes first of all, and comes back last, so that nobody can open an old database with a new `-wal`.
        for piece in pieces where try !setAside(piece.place) { return false }
        try begin()
        if let first = pieces.first { try synchronize(FilePaths.parent(first.place), copies) }
        for piece in pieces.reversed() { try move([piece]) }
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
        if try !Platform.exists(at: items) {
            for name in try Platform.nameBytes(in: place) {
                let path = (place + "/").utf8CString.dropLast() + name
                _ = try setAside(Array(path), place + "/" + Platform.readable(name))
            }
            // From here on what is in the folder may have been put back, and only what has the name of something unspent goes.
            try begin()
            try synchronize(place, copies)
            try Platform.replace(items, with: copies + "/item")
            try synchronize(copies)
        }
        try Platform.makeDirectories(place)
        for folder in [items, place] { try Platform.makeWritable(folder, FileStatus(ofEntry: folder)) }
        let pieces = try Platform.names(in: items, strictly: true).map { name in
            Piece(item: "/item.entries/" + name, place: place + "/" + name)
        }
        for piece in pieces { _ = try setAside(piece.place) }
        try synchronize(place, copies)
        // A mount point can hold thousands of entries, so they share their syncs: what belongs to databases first.
        let companions = pieces.filter { Self.isCompanion($0.place) }
        let others = pieces.filter { !Self.isCompanion($0.place) }
        try move(companions)
        try move(others)
        try Platform.replace(copies + "/item.spent", with: items)
        try synchronize(copies)
    }

    private static func isCompanion(_ path: String) -> Bool {
        Snapshot.companions.dropFirst().contains { path.hasSuffix($0) }
    }

    private mutating func setAside(_ path: String) throws -> Bool {
        try setAside(Array(path.utf8CString), path)
    }

    /// Moves what is at a path into the snapshot; `text` is the path for people, whose bytes may be others.
    ///
    /// On another file system there is no way to move it there, and it is removed: what is put back there is still in the snapshot.
    ///
    /// - Returns: False if `path` is the protected folder itself and can't be moved, because it is a mount point or a sandbox's
    ///   folder, is on another file system, or is in a folder that this user can't write to. Nothing was changed then.
    private mutating func setAside(_ path: [CChar], _ text: String) throws -> Bool {
        guard let status = try Platform.statusIfPresent(path, text) else { return true }
        try Platform.makeWritable(path, text, status)
        do throws(SystemCallError) {
            do throws(SystemCallError) {
                try moveIntoSnapshot(path, text)
            } catch {
                guard Platform.isNotPermitted(error), Platform.makeMutable(path) else { throw error }
                try moveIntoSnapshot(path, text)
            }
            return true
        } catch {
            if status.kind == .directory, FilePaths.isSame(text, place), Platform.keepsFolder(error),
                try Platform.status(copies + "/item")?.kind == .directory
            {
                return false
            }
            if !Platform.isOtherFileSystem(error) { throw error }
        }
        if try keepsReplaced || StateRecognition.isStateIn(path, text) { try keep(path, text) }
        try Platform.removeTree(path, text)
        return true
    }

    /// Copies what is at a path on another file system into the snapshot, from where it is not removed.
    ///
    /// If no copy can be made, because of its names or for want of room, it is renamed.
    private mutating func keep(_ path: [CChar], _ text: String) throws {
        let copy = try nextReplaced()
        do {
            // A name that isn't UTF-8 is another one in the text.
            if Array(text.utf8CString) != path { throw Platform.unsupported(text) }
            try FileTree(text).copy(to: copy, by: FileCopier())
            try FileTree.synchronize([copy])
            try synchronize(copies)
        } catch {
            do throws(SystemCallError) {
                try Platform.removeTree(copy)
            } catch {
                // It goes with the snapshot.
            }
            var number = 1
            while try Platform.exists(at: "\(text).\(Self.replaced)\(number)") { number += 1 }
            let kept = "\(text).\(Self.replaced)\(number)"
            try Platform.move(path, to: kept, failing: text)
            keptBeside.append(kept)
        }
    }

    /// Moves pieces of one folder to their places, where nothing is, durably; those for another file system are copied.
    private mutating func move(_ pieces: [Piece]) throws {
        guard let first = pieces.first else { return }
        let folder = FilePaths.parent(first.place)
        var copied: [Piece] = []
        for piece in pieces where try !rename(piece) { copied.append(piece) }
        if !copied.isEmpty {
            try copy(copied, into: folder)
            for piece in copied {
                let item = copies + piece.item
                try Platform.makeWritable(item, FileStatus(ofEntry: item))
                try moveIntoSnapshot(Array(item.utf8CString), item)
            }
        }
        try synchronize(folder, FilePaths.parent(copies + first.item))
    }

    /// Renames an item to its place, and the mark of an absent file to its own; false if the place is on another file system.
    private func rename(_ piece: Piece) throws -> Bool {
        let item = copies + piece.item
        guard let status = try Platform.status(item) else { return true }
        if piece.item.hasPrefix("/absent") {
            try Platform.replace(item + ".spent", with: item)
            return true
        }
        let isOpened = try Platform.makeWritable(item, status)
        var failure: SystemCallError?
        do throws(SystemCallError) { try Platform.replace(piece.place, with: item) } catch { failure = error }
        if isOpened { try Platform.setPermissions(failure == nil ? piece.place : item, status.permissions) }
        guard let failure else { return true }
        if !Platform.isOtherFileSystem(failure) { throw failure }
        return false
    }

    /// Copies items to their places in a folder of another file system, durably.
    private func copy(_ pieces: [Piece], into folder: String) throws {
        try FileSystemFlush.opening(folder) { flush in
            var trees: [FileTree] = []
            for piece in pieces { trees.append(try FileTree(copies + piece.item)) }
            let total = trees.reduce(0) { $0 + $1.cost }
            let copier = FileCopier()
            var done = 0.0
            for (tree, piece) in zip(trees, pieces) {
                do {
                    try tree.copy(to: piece.place, by: copier) { _, cost in
                        report(min(done / total, 1), "putting back \(piece.place)")
                        done += cost
                    }
                } catch let error as SystemCallError {
                    throw error.moved(from: copies + piece.item, to: piece.place)
                }
            }
            try FileTree.synchronize(pieces.map { $0.place }, by: flush)
            // Nothing orders the names of two file systems: these are durable before a copy counts as restored.
            try synchronize(folder)
        }
    }

    /// Moves a thing to where it is removed at the end; a rename, since the closure may have filled the disk.
    private mutating func moveIntoSnapshot(_ path: [CChar], _ text: String) throws(SystemCallError) {
        try Platform.move(path, to: nextReplaced(), failing: text)
    }

    private mutating func nextReplaced() throws(SystemCallError) -> String {
        repeat {
            lastReplaced += 1
        } while try Platform.exists(at: "\(copies)/\(Self.replaced)\(lastReplaced)")
        return "\(copies)/\(Self.replaced)\(lastReplaced)"
    }

    private func exists(_ name: String) throws -> Bool { try Platform.exists(at: copies + name) }

    /// Syncs the names in folders, of which one may not be there: nothing was in it, and nothing is.
    private func synchronize(_ folders: String...) throws {
        for folder in folders { _ = try Platform.unless(Platform.absent, Platform.synchronize(folder)) }
    }
}
