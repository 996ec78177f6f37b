/// The folder beside a file or a folder in which a migration makes its replacement.
///
/// For `Notes` and the manager `Library`, it is `.Notes@Library.migrating`. It contains:
///
///     new/Notes         the copy on which the closure works
///     ready-2.0/Notes   the same, once the closure of 2.0 has returned and its work is on the disk
///     old/Notes         the original folder, after it was renamed and before it is removed
///     gone              what was `ready-2.0`, while everything here is being removed
///
/// So the names alone show at which step of which migration a process died, without a list and without a
/// state. Here `ready` stands for `ready-2.0`:
///
///     found                          what has happened                        what is done
///     ----------------------------   --------------------------------------   -----------------------------
///     no `ready`                     the closure hasn't returned              it is removed
///     `gone`                         this folder was being removed            it is removed
///     `ready/Notes`, no `old/Notes`  the original is untouched                it is removed
///     `ready/Notes` and `old/Notes`  between two renames: nothing is at the   `old/Notes` goes back, then
///                                    place, or somebody made something new    as above
///     `ready` without `Notes`        the original is replaced; if nothing     recorded, then it is removed
///                                    is at the place, the last rename was
///                                    lost, and `old/Notes` goes back
///
/// It is recorded only for an attempt that the state knows. If the state doesn't expect this migration,
/// something new stays in the place, and this folder is moved aside if it has the original.
///
/// **Nothing in it is removed while it has a `ready`**, so that a removal that dies never looks like a
/// replacement.
struct WorkingFolder: Sendable {
    /// The path of the original.
    let place: String

    /// The path of this folder.
    let path: String

    init(beside place: String, of location: StateLocation) {
        self.place = place
        path = FilePaths.joined(
            FilePaths.parent(place),
            name: ".\(FilePaths.last(place))@\(location.name).migrating"
        )
    }

    /// The working folder of an attempt.
    ///
    /// The attempt names the path that it replaces from `directory`, the state directory without links.
    init(of attempted: AttemptedMigration, from directory: String, in location: StateLocation) {
        let place = FilePaths.absolute(attempted.replacing ?? "", from: directory)
        self.init(beside: place, of: location)
    }

    /// The working folder at `path`; `nil` if no working folder of this manager can have that path.
    init?(at path: String, of location: StateLocation) {
        let name = FilePaths.last(path)
        let suffix = "@\(location.name).migrating"
        // No manager's name contains an @, so the last one tells the two names apart.
        // In bytes: the end of the file's name and the @ can be one character.
        guard name.utf8.first == UInt8(ascii: "."), name.utf8.count > suffix.utf8.count + 1,
            name.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        let original = String(decoding: name.utf8.dropFirst().dropLast(suffix.utf8.count), as: UTF8.self)
        self.init(beside: FilePaths.joined(FilePaths.parent(path), name: original), of: location)
    }

    var name: String { FilePaths.last(place) }
    var folderAbove: String { FilePaths.parent(place) }
    var new: String { path + "/new" }
    var old: String { path + "/old" }
    private var gone: String { path + "/gone" }

    private static let readyPrefix = "ready-"

    func ready(for version: AppVersion) -> String { path + "/" + Self.readyPrefix + version.description }

    /// The path of the original in `folder`, which is one of the folders above.
    func item(in folder: String) -> String { folder + "/" + name }

    /// What is left of the work of a process that died.
    enum Remains: Equatable {
        case nothing

        /// Nothing in the working folder is needed: the original is in its place, or it was replaced and what
        /// is left of it was about to be removed.
        case unfinished

        /// The original was replaced by the migration of this version.
        case replaced(AppVersion)

        /// The original is in `old`, and something else is in its place. It isn't known that the expected
        /// migration has taken the original.
        case occupied
    }

    /// Finds out how far a process came before it died, and puts the original back if it died between the two
    /// renames.
    ///
    /// `version` is the migration that is expected to have replaced the original; `nil` if none is. If
    /// something new is in the place, only the original of that migration goes back. `didFind` is called with
    /// the new path of what stood in the place.
    ///
    /// - Throws: ``SystemCallError``, also if something other than a folder of this user is at the path.
    func settle(
        expecting version: AppVersion?,
        didFind: (_ path: String) -> Void
    ) throws(SystemCallError) -> Remains {
        switch try progress() {
        case nil: return .nothing
        case .ending: return .unfinished
        case .working:
            if try !Platform.exists(at: item(in: old)) { return .unfinished }
            // `ready` is on the disk before the original is taken, so this should be impossible.
            if try Platform.exists(at: place) { return .occupied }
            try putBack()
            return .unfinished
        case .ready(let ready):
            if try !Platform.exists(at: item(in: old)) { return .unfinished }
            // The process that made the folder in `ready` may have died before it synced that.
            try Platform.synchronize(self.ready(for: ready))
            return try settleBetweenRenames(of: ready, expecting: version, didFind: didFind)
        case .replaced(let ready):
            guard ready == version, try !Platform.exists(at: place) else {
                try synchronizePlace()
                return .replaced(ready)
            }
            // The last rename was lost in a power failure, or somebody has removed what was there.
            guard try Platform.exists(at: item(in: old)) else { return .unfinished }
            // Make a folder in place of the lost copy. Then the names say the same as between the two
            // renames. So if this process dies now, the next start puts the original back, too.
            try Platform.makeDirectory(item(in: self.ready(for: ready)))
            try Platform.synchronize(self.ready(for: ready))
            return try settleBetweenRenames(of: ready, expecting: version, didFind: didFind)
        }
    }

    /// How far the process came, as the names in this folder say.
    private enum Progress {
        /// There is no `ready`, so the closure hasn't returned.
        case working

        /// There is a `ready` of this version, with the copy in it.
        case ready(AppVersion)

        /// There is a `ready` of this version, and nothing is in it.
        case replaced(AppVersion)

        /// There is a `gone` and no `ready`, so this folder was being removed.
        case ending
    }

    /// Reads the names, and changes nothing; `nil` if there is no such folder.
    private func progress() throws(SystemCallError) -> Progress? {
        // The data may have moved to a file system that doesn't allow such a long name.
        guard let status = try Platform.statusIfPresent(path) else { return nil }
        guard status.kind == .directory, Platform.isOwn(status) else { throw SystemCallError.foreign(path) }
        if let version = try readyVersion() {
            return try Platform.exists(at: item(in: ready(for: version)))
                ? .ready(version) : .replaced(version)
        }
        return try Platform.exists(at: gone) ? .ending : .working
    }

    /// Puts the original, which is in `old`, back into its place.
    private func settleBetweenRenames(
        of ready: AppVersion,
        expecting version: AppVersion?,
        didFind: (_ path: String) -> Void
    ) throws(SystemCallError) -> Remains {
        if try Platform.exists(at: place) {
            if ready != version { return .occupied }
            try clearPlace(didFind: didFind)
        }
        try putBack()
        return .unfinished
    }

    /// The version in the name of the folder that begins with `ready-`; `nil` if there is none.
    private func readyVersion() throws(SystemCallError) -> AppVersion? {
        for name in try Platform.names(in: path) where name.hasPrefix(Self.readyPrefix) {
            let text = String(name.dropFirst(Self.readyPrefix.count))
            if let version = AppVersion(text), version.description == text { return version }
        }
        return nil
    }

    /// Puts the original folder back into its place.
    func putBack() throws(SystemCallError) {
        try Platform.replace(place, with: item(in: old))
        try synchronizePlace()
    }

    /// Renames whatever is in the original's place to `<name>.found-<time>`, so that nothing is lost.
    ///
    /// `didFind` is called with the new path, also if the sync after it fails: nobody looks for it again.
    func clearPlace(didFind: (_ path: String) -> Void) throws(SystemCallError) {
        guard try Platform.exists(at: place) else { return }
        let found = try freePath(place + ".found-")
        try Platform.replace(found, with: place)
        didFind(found)
        try Platform.synchronize(folderAbove)
    }

    /// Renames the original folder to `old/<name>`.
    func takeOriginal() throws(SystemCallError) {
        try Platform.replace(item(in: old), with: place)
        // The new name first: a file system that doesn't rename in one step may keep both, and not none.
        try Platform.synchronize(old)
        try Platform.synchronize(folderAbove)
    }

    /// Syncs the folders that a rename to the original's place has changed, the one with the new name first.
    func synchronizePlace() throws(SystemCallError) {
        try Platform.synchronize(folderAbove)
        let folders = [old] + (try readyVersion().map { [ready(for: $0)] } ?? [])
        for folder in folders where try Platform.exists(at: folder) { try Platform.synchronize(folder) }
    }

    /// Removes this folder and everything in it.
    func remove() throws(SystemCallError) {
        guard let status = try Platform.status(path) else {
            // The process that removed it may have died before it synced the removal.
            _ = try Platform.ignoringMissing(Platform.synchronize(folderAbove))
            return
        }
        guard status.kind == .directory, Platform.isOwn(status) else { throw SystemCallError.foreign(path) }
        if let version = try readyVersion() {
            try Platform.replace(gone, with: ready(for: version))
            try Platform.synchronize(path)
        }
        // `gone` is removed after the old folder: without it, what is left of the old folder could go back.
        try Platform.removeTree(old)
        try Platform.synchronize(path)
        try Platform.removeTree(path)
        try Platform.synchronize(folderAbove)
    }

    /// Renames this folder, which can't be removed, so that it doesn't prevent the next attempt.
    ///
    /// - Returns: The new path.
    func moveAside() throws(SystemCallError) -> String {
        let left = try freePath(leftStart)
        try Platform.replace(left, with: path)
        return left
    }

    private var leftStart: String { String(path.dropLast("migrating".count)) + "left-" }

    /// Throws if the file system doesn't allow the longest name that may be needed here.
    ///
    /// Without this, the replacement would begin, and what has to be renamed later could stay in the way for
    /// ever.
    func requireShortNames() throws(SystemCallError) { _ = try freePath(leftStart) }

    /// A path that begins with `start` and the time, at which nothing exists.
    private func freePath(_ start: String) throws(SystemCallError) -> String {
        let stamped = start + Timestamp.text(Platform.now).filter { $0 != "-" && $0 != ":" }
        var path = stamped
        var number = 2
        while try Platform.exists(at: path) {
            path = "\(stamped)-\(number)"
            number += 1
        }
        return path
    }
}
