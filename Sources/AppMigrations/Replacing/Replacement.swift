/// Lets a closure work on a copy of a file or a folder, and then puts the copy in the place of the original.
///
/// The engine calls ``makeFolder()`` and ``prepare(reporting:)`` before the closure, and
/// ``synchronizeCopy(by:)`` and ``commit(didFind:)`` after it. At the end, it calls ``discard()``. If the
/// process dies, ``LockedState/settleReplacements(sendingTo:)`` finishes the work at the next start.
/// ``WorkingFolder`` has the names that show how far a process came.
struct Replacement: Sendable {
    let version: AppVersion
    let location: StateLocation
    let folder: WorkingFolder

    /// The original with everything in it; empty if nothing is at its path.
    private let original: FileTree

    /// The absolute path of the state directory, with links resolved.
    private let stateDirectory: String

    /// The path of the copy, for the closure.
    var copy: String { folder.item(in: folder.new) }

    /// The path of the original as seen from the state directory, because iOS moves an app's container.
    var relativePath: String { FilePaths.relative(folder.place, to: stateDirectory) }

    /// The path of the working folder as seen from the state directory.
    var relativeWorkingFolder: String { FilePaths.relative(folder.path, to: stateDirectory) }

    private var kind: FileStatus.Kind? { original.entries.first?.status.kind }

    /// Checks the path of the original, and lists what has to be copied, before anything runs.
    ///
    /// Links in the path are resolved, so that a link stays a link, and what it leads to is replaced.
    ///
    /// `folder` is the working folder of `path`, in which nothing is left of an earlier replacement.
    ///
    /// - Throws: ``MigrationError`` with the code `replacementFailed`.
    init(
        of path: String,
        in folder: WorkingFolder,
        version: AppVersion,
        location: StateLocation
    ) throws(MigrationError) {
        self.version = version
        self.location = location
        self.folder = folder
        do {
            stateDirectory = try Platform.resolved(location.directory)
            try Self.requireReplaceable(folder.place, stateDirectory: stateDirectory)
            // A power failure may not bring back a working folder that was removed or moved aside.
            try Platform.synchronize(folder.folderAbove)
            original = try FileTree(at: folder.place) { entry in
                try Self.requireCopyable(entry, in: [folder.place, path])
            }
        } catch {
            throw .notReplaced(path, of: version, in: location, because: error)
        }
    }
}

// Before the closure.
extension Replacement {
    /// The working folder of a path that a declaration names.
    ///
    /// - Throws: ``MigrationError`` with the code `replacementFailed`.
    static func workingFolder(
        of path: String,
        version: AppVersion,
        in location: StateLocation
    ) throws(MigrationError) -> WorkingFolder {
        do {
            try requireUsable(path)
            let folder = WorkingFolder(beside: try resolved(path), of: location)
            try folder.requireShortNames()
            return folder
        } catch {
            throw .notReplaced(path, of: version, in: location, because: error)
        }
    }

    /// A reason for which a path isn't replaced.
    struct Refusal: Error, CustomStringConvertible {
        let reason: Message
        var advice: Message
        var cause: SystemCallError?

        var description: String { reason.description }
    }

    private static func requireUsable(_ path: String) throws {
        var reason = FilePaths.refusal(path)
        if reason == nil, path.utf8.first != 0x2F {
            reason = "it is relative, and the working directory of a later start can be another one"
        }
        if reason == nil { reason = try FilePaths.escapes(path) }
        if let reason {
            throw Refusal(reason: reason, advice: "Pass the absolute path of a file or a folder.")
        }
    }

    /// The path with all links resolved, also if nothing is there yet.
    private static func resolved(_ path: String) throws -> String {
        // A slash at the end would make the last component empty.
        let path = "/" + FilePaths.components(path).joined(separator: "/")
        if try Platform.status(path, following: true) != nil { return try Platform.resolved(path) }
        if try Platform.exists(at: path) {
            throw Refusal(
                reason: "it is a link to something that doesn't exist",
                advice: """
                    Put back what it leads to. If a process died while that was replaced, the original is beside its place, in a \
                    folder whose name ends in .migrating.
                    """
            )
        }
        let folder = FilePaths.parent(path)
        if try Platform.status(folder, following: true)?.kind != .directory {
            throw Refusal(
                reason: "the folder \(folder.quoted) doesn't exist",
                advice: "Create that folder before the migration."
            )
        }
        return FilePaths.joined(try Platform.resolved(folder), name: FilePaths.last(path))
    }

    private static func requireReplaceable(_ place: String, stateDirectory: String) throws {
        let aFolderInIt: Message = "Name a file or a folder inside it instead."
        if FilePaths.contains(place, path: stateDirectory) {
            throw Refusal(
                reason: "it contains the state directory \(stateDirectory.quoted)",
                advice: "Keep the state beside the data, or name a file or a folder inside it."
            )
        }
        let folderAbove = FilePaths.parent(place)
        let above = try FileStatus(ofEntry: folderAbove, following: true)
        if let cause = try Platform.refusalOfWriting(folderAbove) {
            throw Refusal(
                reason: """
                    the folder above it, \(folderAbove.quoted), can't be written to: it belongs to user \(Int(above.owner))
                    """,
                advice: "Make that folder writable for this user. \(aFolderInIt)",
                cause: cause
            )
        }
        let status = try Platform.status(place)
        if Platform.isRoot, (status ?? above).owner != 0 {
            throw Refusal(
                reason: "it belongs to user \(Int((status ?? above).owner)), and this process runs as root",
                advice: "Start the app as that user."
            )
        }
        guard let status else { return }
        // The rename changes the entry `..` in it.
        if status.kind == .directory, let cause = try Platform.refusalOfWriting(place) {
            throw Refusal(
                reason: "it is a folder that can't be written to, so it can't be renamed",
                advice: "Make that folder writable for this user before the migration.",
                cause: cause
            )
        }
        if Platform.isEncryptedAlone(place) {
            throw Refusal(
                reason: "it is encrypted, and the folder above it is not, so the copy would not be",
                advice: aFolderInIt
            )
        }
        if try Platform.isMountPoint(place, status: status) {
            throw Refusal(reason: "something is mounted there", advice: aFolderInIt)
        }
        for suffix in ["-wal", "-shm", "-journal"] where status.kind == .file {
            if try Platform.exists(at: place + suffix) {
                throw Refusal(
                    reason: "it is a database that may be open: \((place + suffix).quoted) is beside it",
                    advice: """
                        Close the database before, or name the folder that contains it. A migration of SQL needs no copy at all.
                        """
                )
            }
        }
    }

    /// `places` are the path of the original with its links resolved, and as the declaration names it.
    private static func requireCopyable(_ entry: FileTree.Entry, in places: [String]) throws {
        if let word = entry.status.kind.wordIfSpecial {
            throw Refusal(
                reason: "\(entry.path.quoted) is \(word), which can't be copied",
                advice: "Remove it before the migration, or name a folder that doesn't contain it."
            )
        }
        if entry.status.kind == .link, try Platform.leadsOutAndBack(entry.path, of: places[0], named: places)
        {
            throw Refusal(
                reason: """
                    \(entry.path.quoted) is a link that leads out of the folder and back into it, so the closure would change the \
                    original through it
                    """,
                advice: "Make it a relative link that stays in the folder before the migration."
            )
        }
        if entry.status.kind != .link, !entry.below.isEmpty,
            try Platform.isMountPoint(entry.path, status: entry.status)
        {
            throw Refusal(
                reason: "something is mounted at \(entry.path.quoted)",
                advice: "Name a folder that doesn't contain it."
            )
        }
    }

    /// Makes the working folder.
    ///
    /// - Throws: ``MigrationError`` with the code `replacementFailed`.
    func makeFolder() throws(MigrationError) {
        do {
            try Platform.makeDirectory(folder.path)
            try requireOwnFolder()
        } catch {
            throw .notReplaced(folder.place, of: version, in: location, because: error)
        }
    }

    /// Makes the copy in the working folder.
    ///
    /// If nothing is at the path of the original, nothing is at the path of the copy either.
    ///
    /// - Parameter report: Called with the part that is done, from 0 to 1, and a note.
    /// - Throws: ``MigrationError`` with the code `replacementFailed` or `cancelled`.
    func prepare(reporting report: (Double, String) -> Void) throws(MigrationError) {
        do {
            try Platform.makeDirectory(folder.old)
            try Platform.makeDirectory(folder.new)
            let total = max(original.cost, 1)
            var done = 0.0
            var percent = -1
            try original.copy(to: copy, by: FileCopier()) { path, cost in
                try Task.checkCancellation()
                done += cost
                if Int(done / total * 100) == percent { return }
                percent = Int(done / total * 100)
                report(min(done / total, 1), "copying \(path)")
            }
        } catch is CancellationError {
            throw location.cancelled(version, while: "copied \(folder.place.quoted) for migration \(version)")
        } catch {
            throw .notReplaced(folder.place, of: version, in: location, because: error)
        }
    }

    /// Throws if the working folder, which was just made, doesn't seem to belong to this user.
    ///
    /// Some file systems in the network show another owner. A later start would refuse to settle such a
    /// folder.
    private func requireOwnFolder() throws {
        let status = try FileStatus(ofEntry: folder.path)
        if Platform.isOwn(status) { return }
        try Platform.removeTree(folder.path)
        throw Refusal(
            reason: """
                its file system shows user \(Int(status.owner)) as the owner of a folder that this process has just made
                """,
            advice: "Mount the file system so that it shows this user, or keep the data on another one."
        )
    }
}

// After the closure.
extension Replacement {
    /// How far a commit came.
    enum Outcome {
        /// The copy is in the place of the original, and synced to disk.
        case replaced

        /// The original is in its place.
        case unchanged(MigrationError)

        /// The next start has to put the original back, or to sync the new one to disk and record it.
        ///
        /// Until then nothing in the working folder may be removed: the original may be in it.
        case unsettled(MigrationError)
    }

    /// Syncs the copy to disk.
    ///
    /// `flush` syncs the file system of the state.
    ///
    /// - Throws: ``MigrationError`` with the code `replacementFailed`.
    func synchronizeCopy(by flush: FileSystemFlush) throws(MigrationError) {
        do {
            try FileTree.synchronize([folder.new], by: flush)
        } catch {
            throw unchangedError(because: error)
        }
    }

    /// Puts the copy, which was synced to disk, in the place of the original.
    ///
    /// `didFind` is called with the new path of something that stood in the original's place although nobody
    /// should have made it.
    func commit(didFind: (_ path: String) -> Void) -> Outcome {
        let ready = folder.ready(for: version)
        do {
            // There was nothing to convert.
            if try !hasOneItem() { return .replaced }
            // No closure knows this name. From here on, the work is whole.
            try Platform.replace(ready, with: folder.new)
            try Platform.synchronize(folder.path)
            try Platform.synchronize(folder.folderAbove)
        } catch {
            return .unchanged(unchangedError(because: error))
        }
        var found: String?
        defer { if let found { didFind(found) } }
        do throws(SystemCallError) {
            if kind == .directory { try folder.takeOriginal() }
            // A file is replaced in one step, so it is never missing.
            if kind == nil || kind == .directory { try folder.clearPlace { found = $0 } }
            try Platform.replace(folder.place, with: folder.item(in: ready))
        } catch {
            return putBack(because: error)
        }
        do throws(SystemCallError) {
            try folder.synchronizePlace()
            return .replaced
        } catch {
            return .unsettled(notRecorded(because: error))
        }
    }

    /// Puts the original back, if it isn't in its place, after a rename or the sync of a rename has failed.
    private func putBack(because cause: SystemCallError) -> Outcome {
        do throws(SystemCallError) {
            // A file system in the network can fail although it has renamed.
            if try !Platform.exists(at: folder.item(in: folder.ready(for: version))) {
                return .unsettled(notRecorded(because: cause))
            }
            if try Platform.exists(at: folder.item(in: folder.old)) { try folder.putBack() }
        } catch {
            let text: Message = """
                \(folder.place.quoted) can't be replaced for migration \(version) of \(location): \(cause). It can't be put back \
                either: \(error).
                """
            return .unsettled(
                location.error(
                    .replacementFailed,
                    version: version,
                    at: folder.place,
                    because: error,
                    text,
                    advice: """
                        The original is there or in \(folder.old.quoted). Fix the cause, and start the app again, which puts it back.
                        """
                )
            )
        }
        return .unchanged(unchangedError(because: cause))
    }

    private func unchangedError(because cause: any Error) -> MigrationError {
        MigrationError.notReplaced(folder.place, of: version, in: location, because: cause)
            .leaving(
                .text("The closure of migration \(version) ran on its copy, and that work was discarded.")
            )
    }

    private func notRecorded(because cause: SystemCallError) -> MigrationError {
        location.error(
            .replacementFailed,
            version: version,
            at: folder.place,
            because: cause,
            """
            \(folder.place.quoted) was replaced for migration \(version) of \(location), but may not survive a power failure: \(cause).
            """,
            unchanged: .text("Migration \(version) ran, and is not recorded yet. The next start records it."),
            advice: "Fix the cause, and start the app again."
        )
    }

    /// True if the closure has left exactly one item, of the kind of the original; false if there was
    /// nothing, and the closure has made nothing.
    ///
    /// Throws if it has left anything else.
    private func hasOneItem() throws -> Bool {
        let others = try Platform.names(in: folder.new)
            .filter { !FilePaths.isSame($0, folder.name) }
        if let other = others.min() {
            throw Refusal(
                reason:
                    "the closure left \(FilePaths.joined(folder.new, name: other).quoted) beside the copy",
                advice: "Close a database, and remove temporary files, before the closure returns."
            )
        }
        guard let status = try Platform.status(copy) else {
            if kind == nil, try !Platform.exists(at: folder.place) { return false }
            throw Refusal(
                reason: "the closure left nothing at \(copy.quoted)",
                advice: "Leave the converted file or folder at the path that the closure gets."
            )
        }
        let isRightKind = kind.map { $0 == status.kind } ?? [.file, .directory].contains(status.kind)
        if !isRightKind {
            throw Refusal(
                reason: "what the closure left at \(copy.quoted) isn't of the kind that was there",
                advice: "Leave a file where a file was, and a folder where a folder was."
            )
        }
        return true
    }

    /// Removes the working folder: after an error, or after the replacement was recorded.
    ///
    /// - Returns: The error to report if it could not be removed.
    func discard() -> MigrationError? { location.remove(folder, of: version) }
}

extension StateLocation {
    /// Removes a working folder; moves it aside if that isn't possible.
    ///
    /// - Returns: The error to report if it could not be removed.
    func remove(_ folder: WorkingFolder, of version: AppVersion?) -> MigrationError? {
        do throws(SystemCallError) {
            try folder.remove()
            return nil
        } catch {
            var left = folder.path
            var cause = error
            do throws(SystemCallError) {
                left = try folder.moveAside()
                try Platform.synchronize(folder.folderAbove)
            } catch let second {
                cause = second
            }
            return self.error(
                .replacementFailed,
                version: version,
                at: left,
                because: cause,
                "The folder \(left.quoted), which \(self) doesn't need any more, could not be removed: \(error).",
                unchanged: .saidByProblem,
                advice: "Look into it, and remove it when nothing uses it."
            )
        }
    }
}

extension MigrationError {
    /// Makes the error for a file or a folder that isn't replaced; passes on an error of this type.
    static func notReplaced(
        _ path: String,
        of version: AppVersion,
        in location: StateLocation,
        because cause: any Error
    ) -> MigrationError {
        if let error = cause as? MigrationError { return error }
        let refusal = cause as? Replacement.Refusal
        var advice: Message = "The original is as it was. Fix the cause, and start the app again."
        if let error = cause as? SystemCallError, error.isOfLongName {
            advice = """
                That name is too long for the file system. Give a shorter one to the file or the folder, or to the manager, or replace \
                the folder that contains it.
                """
        }
        if let error = cause as? SystemCallError, error.isOfOtherFileSystem {
            advice = """
                The original is as it was. On an overlay, a folder that came with a container's image can't be renamed: use one that \
                is made at run time.
                """
        }
        return location.error(
            .replacementFailed,
            version: version,
            at: path,
            because: refusal == nil ? cause : refusal?.cause,
            "\(path.quoted) can't be replaced for migration \(version) of \(location): \(cause).",
            advice: refusal?.advice ?? advice
        )
    }
}
