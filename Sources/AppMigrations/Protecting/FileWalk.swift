/// The open folders from a tree's top to where a walk is.
///
/// Only the nearest stay open, so that a tree may be deeper than a process may have files.
final class FolderTrail {
    /// The folder that the tree's top has a name in.
    let base: Int32
    private let path: String
    private var levels: [Level] = []

    fileprivate struct Level {
        let name: FileName
        let status: FileStatus
        /// -1 once it is closed.
        var descriptor: Int32
    }

    private static var openLimit: Int { 32 }

    /// Errors name the top by `path`.
    @inline(never)
    init(_ path: String, in base: Int32 = Platform.anyFolder) {
        self.path = path
        self.base = base
    }

    deinit {
        for level in levels where level.descriptor >= 0 { Platform.closeAfterReading(level.descriptor) }
    }

    /// The folder that the trail has come to.
    @inline(never)
    var folder: Int32 { levels.last?.descriptor ?? base }
    var status: FileStatus? { levels.last?.status }
    var depth: Int { levels.count }

    /// The folder above the current one, where the trail came through it.
    var above: FileIdentity? { levels.count < 2 ? nil : levels[levels.count - 2].status.identity }

    /// The folder that the trail has come to, or began at.
    func holder() throws(FileTree.Failure) -> FileIdentity {
        if let status { return status.identity }
        return try at { folder throws(SystemCallError) in try FileStatus(folder) }.identity
    }

    /// The place of something in the tree, for errors.
    struct Place {
        fileprivate let top: String
        fileprivate let levels: [Level]
        fileprivate let name: FileName?

        /// Names are shown as far as they are text.
        var path: String {
            // The first name is the top's own.
            var names = levels.dropFirst().map(\.name)
            if !levels.isEmpty, let name { names.append(name) }
            return names.reduce(top) { path, name in
                path + "/" + name.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
            }
        }
    }

    func place(_ name: FileName? = nil) -> Place { Place(top: path, levels: levels, name: name) }

    @inline(never)
    func path(_ name: FileName? = nil) -> String { place(name).path }

    func at<Value>(
        _ name: FileName? = nil,
        _ body: (_ folder: Int32) throws(SystemCallError) -> Value
    ) throws(FileTree.Failure) -> Value {
        do throws(SystemCallError) {
            return try body(folder)
        } catch {
            throw FileTree.Failure(cause: error, path: path(name))
        }
    }

    /// What has a name in the folder; `nil` when nothing does.
    @inline(never)
    func find(_ name: FileName) throws(FileTree.Failure) -> FileStatus? {
        do throws(SystemCallError) {
            return try FileStatus(name, in: folder)
        } catch {
            if error.isAbsent { return nil }
            throw FileTree.Failure(cause: error, path: path(name))
        }
    }

    @discardableResult
    func enter(_ name: FileName) throws(FileTree.Failure) -> FileStatus {
        let descriptor = try at(name) { folder throws(SystemCallError) in
            try Platform.openFolder(name, in: folder)
        }
        do throws(SystemCallError) {
            let status = try FileStatus(descriptor)
            levels.append(Level(name: name, status: status, descriptor: descriptor))
        } catch {
            Platform.closeAfterReading(descriptor)
            throw FileTree.Failure(cause: error, path: path(name))
        }
        let far = levels.count - 1 - Self.openLimit
        if far >= 0, levels[far].descriptor >= 0 {
            Platform.closeAfterReading(levels[far].descriptor)
            levels[far].descriptor = -1
        }
        return levels[levels.count - 1].status
    }

    /// Goes back to the folder above.
    ///
    /// `body` gets the folder that is left, once the folder above is open: `body` may take the
    /// rights that the way up needs.
    func leave(_ body: (Int32) throws(SystemCallError) -> Void = { _ throws(SystemCallError) in })
        throws(FileTree.Failure)
    {
        if levels.count > 1, levels[levels.count - 2].descriptor < 0 { try reopenAbove() }
        try at { folder throws(SystemCallError) in try body(folder) }
        if let left = levels.popLast() { Platform.closeAfterReading(left.descriptor) }
    }

    private func reopenAbove() throws(FileTree.Failure) {
        let identity = levels[levels.count - 2].status.identity
        let descriptor = try at { folder throws(SystemCallError) in
            let descriptor = try Platform.openFolder(above: folder)
            do throws(SystemCallError) {
                // Another process may have moved the folder while the walk was in it.
                if try FileStatus(descriptor).identity == identity { return descriptor }
                throw Platform.moved
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
        }
        levels[levels.count - 2].descriptor = descriptor
    }
}

/// Visits everything in a tree, its top first; nothing where there is no such tree.
///
/// Links are never followed.
final class FileWalk {
    enum Step {
        /// Something in the folder where the walk is; what a folder holds is only visited after ``FileWalk/enter(_:)``.
        case entry(FileName, FileStatus)
        /// All that the folder where the walk is holds was visited.
        case end(FileStatus)
        /// The walk is in the folder above again.
        case left(FileName)
    }

    let trail: FolderTrail
    private var waiting: [[FileName]]
    private var entered: [FileName] = []
    private var isAtEnd = false

    private let above: FileIdentity?

    /// `name` is what the top is called in the folder `base`; `above` is that folder where nothing may be mounted at the
    /// top either.
    init(
        _ path: String,
        _ name: FileName? = nil,
        in base: Int32 = Platform.anyFolder,
        above: FileIdentity? = nil
    ) {
        trail = FolderTrail(path, in: base)
        self.above = above
        waiting = [[name ?? FileName(path.utf8CString)]]
    }

    var isAtTop: Bool { trail.depth == 0 }

    /// Whether the folder that was entered last holds nothing.
    var isEmpty: Bool { waiting.last?.isEmpty ?? true }

    func next() throws -> Step? {
        if isAtEnd {
            isAtEnd = false
            try trail.leave()
            return .left(entered.removeLast())
        }
        while let name = waiting[waiting.count - 1].popLast() {
            // Another process may have removed it meanwhile, as a connection to a database removes files: it is passed over.
            if let status = try trail.find(name) { return .entry(name, status) }
        }
        guard let status = trail.status else { return nil }
        waiting.removeLast()
        isAtEnd = true
        return .end(status)
    }

    /// Goes into the folder that was visited last.
    @discardableResult
    func enter(_ name: FileName) throws(FileTree.Failure) -> FileStatus {
        let status = try trail.enter(name)
        entered.append(name)
        waiting.append([])
        waiting[waiting.count - 1] = try trail.at { folder throws(SystemCallError) in
            try Platform.names(inOpen: folder)
        }
        return status
    }

    /// The same with the rights that changing the folder takes; `false`, and nowhere gone, where a file system is mounted.
    func enterToChange(_ name: FileName, _ status: FileStatus) throws -> Bool {
        do throws(FileTree.Failure) {
            try trail.enter(name)
        } catch {
            if !error.cause.isForbidden { throw error }
            try trail.at(name) { folder throws(SystemCallError) in
                try Platform.setPermissions(name, in: folder, status.permissions | 0o700)
            }
            try trail.enter(name)
        }
        if isAtMountPoint {
            try trail.leave()
            return false
        }
        entered.append(name)
        waiting.append([])
        waiting[waiting.count - 1] = try trail.at { folder throws(SystemCallError) in
            try Platform.makeAccessible(folder, FileStatus(folder))
            return try Platform.names(inOpen: folder)
        }
        return true
    }

    /// Whether something is mounted at the folder that was entered last; at the top only where that was asked for.
    var isAtMountPoint: Bool {
        guard let status = trail.status, let above = trail.above ?? above else { return false }
        return Platform.isMountPoint(trail.folder, status, above: above)
    }
}
