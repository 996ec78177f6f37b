/// The folder that something is put back into: opened, made again where it went, and given the rights that it takes.
///
/// No link on the way is followed. The path had no links above it when the copy was made, so a link was put there since. It
/// may lead to a folder that was never copied, and what is in that folder would be overwritten.
final class FileParent {
    private let path: String
    private let isMaking: Bool
    private let models: String?
    private var descriptors: [Int32] = []
    private var made: [(folder: Int32, level: Int)] = []
    private var opened: [(name: FileName, folder: Int32, status: FileStatus)] = []

    /// The folder above `path`, or above where it is to be.
    ///
    /// Missing folders are made only where `isMaking`.
    /// `models` are the folders' models, as `note` has kept them.
    init(of path: String, isMaking: Bool, models: String? = nil) {
        self.path = FilePaths.parent(path)
        self.isMaking = isMaking
        self.models = models
    }

    /// Keeps the rights of the folders above `path`, up to the folder that holds the state too: a closure may remove them.
    ///
    /// They are kept as empty folders whose names begin with `models`. A folder that can't be listed has no such model, and would
    /// be made for this user alone.
    static func note(above path: String, upTo stateFolder: String, models: String) throws {
        var path = FilePaths.parent(path)
        var level = 1
        while !FilePaths.contains(path, stateFolder) {
            try note(path, models + "\(level)")
            path = FilePaths.parent(path)
            level += 1
        }
    }

    private static func note(_ path: String, _ model: String) throws {
        let (original, copy) = (FolderTrail(path), FolderTrail(model))
        do throws(FileTree.Failure) {
            try original.enter(FileName(path.utf8CString))
        } catch {
            if error.cause.isAbsent || error.cause.isForbidden { return }
            throw error
        }
        let name = FileName(model.utf8CString)
        try copy.at { folder throws(SystemCallError) in try Platform.makeFolder(name, in: folder) }
        try copy.enter(name)
        try copy.at { folder throws(SystemCallError) in
            let status = try FileStatus(original.folder)
            try Platform.setAttributes(folder, as: status, of: original.folder, strictly: true)
        }
    }

    deinit {
        for descriptor in descriptors { Platform.closeAfterReading(descriptor) }
    }

    /// Opens the folder; `nil` where there is none and none is to be made.
    func open() throws -> Int32? { try open(path, 1) }

    /// Syncs the names in the folder to disk.
    func synchronize() throws {
        guard let folder = descriptors.last else { return }
        try FileTree.at(path) { () throws(SystemCallError) in
            do throws(SystemCallError) {
                try Platform.synchronizeFolder(reopening: folder)
            } catch {
                // A folder that can't be listed can't be opened for this call either.
                if error.errorNumber != Platform.noPermission { throw error }
            }
        }
    }

    /// Gives each folder the rights that it had.
    func close() throws {
        while let (folder, level) = made.popLast() {
            guard let models, let model = try FileTree.status(models + "\(level)") else { continue }
            let trail = FolderTrail(models + "\(level)")
            try trail.enter(FileName((models + "\(level)").utf8CString))
            try FileTree.at(path) { () throws(SystemCallError) in
                try Platform.setAttributes(folder, as: model, of: trail.folder, strictly: false)
                try Platform.synchronizeFolder(opened: folder)
            }
        }
        while let (name, folder, status) = opened.popLast() {
            try FileTree.at(path) { () throws(SystemCallError) in
                try Platform.setPermissions(name, in: folder, status.permissions)
            }
        }
    }

    /// Opens the folder that lies `level` levels above the file or folder that is put back.
    private func open(_ path: String, _ level: Int) throws -> Int32? {
        if let folder = try openAsItIs(path) { return folder }
        guard let above = try open(FilePaths.parent(path), level + 1) else { return nil }
        let name = FileName(FilePaths.last(path).utf8CString)
        let trail = FolderTrail(path, in: above)
        let found = try trail.find(name)
        if let link = found, link.kind == .link, try Platform.isForeign(link) || leadsToFolder(trail, name) {
            throw FileTree.Obstacle.link(path)
        }
        if found?.kind != .directory {
            guard isMaking else { return nil }
            try make(trail, name, isTaken: found != nil)
            let folder = keep(
                try trail.at(name) { above throws(SystemCallError) in try Platform.openFolder(name, in: above)
                }
            )
            made.append((folder, level))
            return folder
        }
        if let found, Platform.isClosed(found) {
            try trail.at(name) { folder throws(SystemCallError) in
                try Platform.setPermissions(name, in: folder, found.permissions | 0o700)
            }
            opened.append((name, above, found))
        }
        return keep(
            try trail.at(name) { folder throws(SystemCallError) in
                try Platform.openForNames(name, in: folder)
            }
        )
    }

    private func openAsItIs(_ path: String) throws -> Int32? {
        do throws(SystemCallError) {
            let folder = keep(try Platform.openWithoutLinks(path))
            return try Platform.isClosed(FileStatus(folder)) ? nil : folder
        } catch {
            if path == "/" || !(error.isNoFolder || error.isForbidden) {
                throw FileTree.Failure(cause: error, path: path)
            }
            return nil
        }
    }

    private func leadsToFolder(_ trail: FolderTrail, _ link: FileName) throws -> Bool {
        do throws(SystemCallError) {
            let folder = try Platform.openFolder(followingLink: link, in: trail.folder)
            Platform.closeAfterReading(folder)
            return true
        } catch {
            if error.isNoFolder { return false }
            throw FileTree.Failure(cause: error, path: trail.path())
        }
    }

    /// Makes the folder.
    ///
    /// A file, or a link that leads to no folder, may have taken its name.
    private func make(_ trail: FolderTrail, _ name: FileName, isTaken: Bool) throws {
        try trail.at(name) { folder throws(SystemCallError) in
            if isTaken { try Platform.removeFile(name, in: folder) }
            do throws(SystemCallError) {
                try Platform.makeFolder(name, in: folder)
            } catch {
                if !error.isPresent { throw error }
            }
            try Platform.synchronizeFolder(reopening: folder)
        }
    }

    private func keep(_ descriptor: Int32) -> Int32 {
        descriptors.append(descriptor)
        return descriptor
    }
}
