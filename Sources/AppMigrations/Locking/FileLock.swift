/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// The kernel gives it back when its process dies, so a killed process keeps no other one waiting. Two callers in one
/// process exclude each other too, since each has opened the file for itself. The line in the file names the holder for people,
/// and decides nothing.
final class FileLock: Sendable {
    private struct Hold {
        /// `nil` once the lock was given back: the number may be that of another file by then.
        var descriptor: Int32?
        var isTaken = false
    }

    let identity: FileIdentity
    /// True if the holder's line may be written: never into a file that somebody has put or linked there.
    private let isOurs: Bool
    private let hold: Guarded<Hold>

    /// The locks under which asynchronous closures of this process run, with the paths of their files.
    private static let held = Guarded<[(identity: FileIdentity, path: String)]>([])

    private init(_ descriptor: Int32, _ status: FileStatus, isOurs: Bool) {
        identity = status.identity
        self.isOurs = isOurs
        hold = Guarded(Hold(descriptor: descriptor))
    }

    deinit { unlock() }

    /// Opens the lock's file without taking the lock, making its directory where there is none; not for a manager that only looks.
    static func open(_ location: StateLocation) throws(MigrationError) -> FileLock {
        if location.isReadOnly { throw .readOnly(location) }
        do throws(SystemCallError) {
            let descriptor = try openFile(location)
            do throws(SystemCallError) {
                let status = try FileStatus(descriptor)
                if status.kind == .file {
                    return FileLock(descriptor, status, isOurs: try isOurs(status, location))
                }
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
            Platform.closeAfterReading(descriptor)
        } catch {
            throw unavailable(location, error)
        }
        throw unavailable(location)
    }

    private static func openFile(_ location: StateLocation) throws(SystemCallError) -> Int32 {
        let opened = try Platform.unless([Platform.noEntry]) { () throws(SystemCallError) in
            try Platform.openLock(location.lock, in: location.directory)
        }
        if let opened { return opened }
        try Platform.makeDirectories(location.directory)
        return try Platform.openLock(location.lock, in: location.directory)
    }

    private static func isOurs(_ file: FileStatus, _ location: StateLocation) throws(SystemCallError) -> Bool
    {
        if file.links != 1 { return false }
        if Platform.isOwn(file) { return true }
        return try FileStatus(ofEntry: location.directory, following: true).owner == file.owner
    }

    private static func unavailable(_ location: StateLocation, _ cause: SystemCallError? = nil)
        -> MigrationError
    {
        let reason = Platform.isOtherThanFile(location.lock) ? nil : cause?.description
        let text: Message = """
            The lock of manager \(location.name.quoted), \(location.lock), could not be taken: \
            \(reason ?? "it is not a regular file"). Nothing was run and the state is unchanged. \
            Make the folder, and what is in it, writable for this process and start again.
            """
        return location.error(.stateNotSaved, at: cause?.path ?? location.lock, because: cause, text)
    }

    enum Attempt {
        case taken
        case held
        /// The lock is free, but a closure still runs under an earlier lock file that was removed from this path.
        case claimed
        /// The file that was opened is not the lock any more.
        case lost
    }

    /// Takes the lock if it is free.
    ///
    /// `isAsynchronous` tells other callers in this process that their thread may be the one that the closure needs.
    func take(_ location: StateLocation, isAsynchronous: Bool = false) throws(MigrationError) -> Attempt {
        do throws(SystemCallError) {
            return try hold.withLock { hold throws(SystemCallError) in
                guard let descriptor = hold.descriptor else { return .lost }
                guard try Platform.tryLock(descriptor) else { return .held }
                // A lock whose file was removed or replaced while this process waited guards nothing.
                guard try stands(at: location) else { return .lost }
                if try ListLock.isTaken(in: location.snapshotInUse()) {
                    Platform.release(descriptor)
                    return .claimed
                }
                hold.isTaken = true
                if isAsynchronous { Self.held.withLock { $0.append((identity, location.lock)) } }
                if isOurs { Platform.writeHolder(descriptor) }
                return .taken
            }
        } catch {
            throw Self.unavailable(location, error)
        }
    }

    /// True if other processes find at the path the same file that this process has locked.
    func stands(at location: StateLocation) throws(SystemCallError) -> Bool {
        try Platform.status(location.lock)?.identity == identity
    }

    /// Gives the lock back, if it was taken, and closes its file.
    func unlock() {
        hold.withLock { hold in
            guard let descriptor = hold.descriptor else { return }
            if hold.isTaken { Self.held.withLock { $0.removeAll { $0.identity == identity } } }
            hold = Hold()
            Platform.unlock(descriptor)
        }
    }

    /// Syncs all of the file system that the lock is on to disk; `false` where that can't be relied on.
    ///
    /// It tells of what could not be written since the lock's file was opened.
    func flushFileSystem() throws(SystemCallError) -> Bool {
        try hold.withLock { hold throws(SystemCallError) in
            guard let descriptor = hold.descriptor else { return false }
            return try Platform.flushFileSystem(of: descriptor)
        }
    }

    /// True if this process has that lock for an asynchronous closure, or had another file locked for one that was at its path.
    static func isHeldAsynchronously(_ identity: FileIdentity, _ location: StateLocation) -> Bool {
        held.withLock { held in
            held.contains { $0.identity == identity || FilePaths.isSame($0.path, location.lock) }
        }
    }

    /// The process that has the lock, as its line in the file says, for an error.
    func holder() -> Message {
        let holder = hold.withLock { $0.descriptor.flatMap { Platform.readHolder($0) } }
        return holder.map { "process \(Int($0))" } ?? "a process that can't be named"
    }
}

/// The lock on a snapshot's list: a `flock` from before the list is in its place until the closure has ended.
///
/// The state's lock doesn't say that a closure runs, since a process that puts files back holds the same lock. Where the file of
/// the state's lock was removed while a closure runs, the list's still keeps other processes away. Nobody else ever takes it
/// exclusively, so a process that only looks is never mistaken for the closure's.
struct ListLock {
    private let descriptor: Int32

    /// Writes a list under another name, locks it, and renames it into place.
    init(making path: String, _ text: [UInt8]) throws(SystemCallError) {
        descriptor = try Platform.at(path) { () throws(SystemCallError) in
            try Platform.save(text, to: path, by: path + ".new") { descriptor throws(SystemCallError) in
                if try !Platform.tryLock(descriptor) { throw Platform.wouldBlock }
            }
        }
    }

    /// Gives the lock back, which a child made past the C library's `fork` shares: closing isn't enough.
    func end() { Platform.unlock(descriptor) }

    /// True if a process has the lock of the list in the snapshot `folder`; `false` where there is no list.
    static func isTaken(in folder: String) throws(SystemCallError) -> Bool {
        try Platform.isLocked(folder + "/list")
    }
}
