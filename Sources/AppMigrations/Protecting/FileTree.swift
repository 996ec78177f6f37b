/// Files and folders as wholes: copied, put back, made durable, removed.
///
/// Names are bytes, links in a tree are never followed, and no tree is too deep for a path or a thread's stack. The path to a
/// tree's top is taken as it is, with the links of the folders that it leads through.
enum FileTree {
    /// A call of the system that failed, and on which file.
    struct Failure: Error {
        let cause: SystemCallError
        let path: String
    }

    /// Something that stands in the way of a copy, or of putting one back, with its path.
    enum Obstacle: Error {
        /// Something that is neither file, folder nor link.
        case special(String)
        /// A folder in a tree at which a file system is mounted, whose files don't belong to the tree.
        case mountPoint(String)
        /// A place whose file system isn't mounted: files put there would be hidden once it is.
        case unmounted(String)
        /// The place of something over which a file system was mounted since: what is on the new file system is not this app's.
        case mounted(String)
        /// A link above something to be put back, which wasn't there when the copy was made.
        case link(String)
    }

    /// What stands at `path`; `nil` when nothing does.
    @inline(never)
    static func status(_ path: String) throws -> FileStatus? {
        try FolderTrail(path).find(FileName(path.utf8CString))
    }

    /// The device of the file system that a path leads to, also where nothing stands at the path.
    static func device(_ path: String) throws -> UInt64 {
        var path = path
        while path != "/" {
            do {
                if let found = try status(path), found.kind == .directory { return found.identity.device }
            } catch let failure as Failure where failure.cause.isForbidden {
                // The folder is closed to this user, so the folder above has to tell. It is opened only to put files back.
            }
            path = FilePaths.parent(path)
        }
        return try FolderTrail(path).at { _ throws(SystemCallError) in
            try FileStatus(FileName(path.utf8CString), in: Platform.anyFolder)
        }.identity.device
    }

    /// Whether a file system is mounted on the way from the folder that a path shares with `folder` to that path, or at it.
    static func isElsewhere(_ path: String, from folder: String) throws -> Bool {
        if try device(path) != device(folder) { return true }
        var path = path
        while !FilePaths.contains(path, folder) {
            if Platform.isMountPoint(path) { return true }
            path = FilePaths.parent(path)
        }
        return false
    }

    /// The identities of a folder and of those above it, by which they are known under other paths: a bind mount gives a
    /// folder a second path without a link.
    static func identities(from folder: String) throws -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        var path = folder
        while true {
            do {
                if let found = try status(path) { identities.insert(found.identity) }
            } catch let failure as Failure where failure.cause.isForbidden {
                // A folder that this process may not look at is none that it could empty.
            }
            if path == "/" { return identities }
            path = FilePaths.parent(path)
        }
    }

    /// Visits what stands at `path` and in it, as far as it can be copied and put back; nothing where nothing stands.
    ///
    /// `visit` gets the path of each thing as far as it is text.
    static func survey(_ path: String, _ visit: (FileStatus, _ path: () -> String) throws -> Void) throws {
        let walk = FileWalk(path)
        while let step = try walk.next() {
            guard case .entry(let name, let status) = step else { continue }
            let place = walk.trail.place(name)
            if status.kind == .other { throw FileTree.Obstacle.special(place.path) }
            try visit(status) { place.path }
            if status.kind == .directory {
                try walk.enter(name)
                if walk.isAtMountPoint { throw FileTree.Obstacle.mountPoint(place.path) }
            }
        }
    }

    /// Removes what stands at `path`, if anything does.
    static func remove(_ path: String) throws {
        let mounted = try remove(FileName(path.utf8CString), in: Platform.anyFolder, path)
        if let first = mounted.first { throw FileTree.Obstacle.mountPoint(first) }
    }

    /// Removes a name from an open folder, if it is there, with everything in it; gives the paths of the file systems that are
    /// mounted in it, which stay.
    static func remove(
        _ name: FileName,
        in folder: Int32,
        _ path: String,
        above: FileIdentity? = nil
    ) throws -> [String] {
        // Another process may put something into a folder that has just been emptied.
        for _ in 0..<FileTree.patience {
            do {
                return try remove(FileWalk(path, name, in: folder, above: above))
            } catch let failure as Failure where failure.cause.isNotEmpty {
                continue
            }
        }
        return try remove(FileWalk(path, name, in: folder, above: above))
    }

    /// How often to try again where another process got in between by chance.
    static var patience: Int { 100 }

    private static func remove(_ walk: FileWalk) throws -> [String] {
        var mounted: [String] = []
        while let step = try walk.next() {
            switch step {
            case .entry(let name, let status) where status.kind == .directory:
                if try !walk.enterToChange(name, status) { mounted.append(walk.trail.path(name)) }
            case .entry(let name, _):
                try removing(walk.trail, name) { folder throws(SystemCallError) in
                    try Platform.removeFile(name, in: folder)
                }
            case .left(let name):
                if !mounted.isEmpty {
                    let path = walk.trail.path(name)
                    if mounted.contains(where: { FilePaths.contains(path, $0) }) { continue }
                }
                try removing(walk.trail, name) { folder throws(SystemCallError) in
                    try Platform.removeFolder(name, in: folder)
                }
            case .end: continue
            }
        }
        return mounted
    }

    /// Another process may have removed it meanwhile, as a connection to a database does with the files beside it.
    private static func removing(
        _ trail: FolderTrail,
        _ name: FileName,
        _ body: (Int32) throws(SystemCallError) -> Void
    ) throws {
        do {
            try trail.at(name, body)
        } catch {
            if !error.cause.isAbsent { throw error }
        }
    }

    /// Makes a call with a path, which its failure names.
    static func at<Value>(
        _ path: String,
        call: (String) throws(SystemCallError) -> Value
    ) throws(Failure) -> Value {
        try at(path) { () throws(SystemCallError) in try call(path) }
    }

    /// Calls what can fail by a call or by a cancelled task.
    static func at(_ place: FolderTrail.Place, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SystemCallError {
            throw Failure(cause: error, path: place.path)
        }
    }

    static func at<Value>(_ path: String, _ body: () throws(SystemCallError) -> Value) throws(Failure)
        -> Value
    {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw Failure(cause: error, path: path)
        }
    }
}
