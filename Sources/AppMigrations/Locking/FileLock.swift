/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// The kernel gives it back when its process dies, so a killed process keeps no other one waiting. Two callers in one
/// process exclude each other too, since each has opened the file for itself. A ``LockedState`` holds it until the last reference to
/// that goes: of a declaration that runs, of a start that saves, or of a call such as a reset. The line in the file names the holder
/// for people, and decides nothing.
final class FileLock: Sendable {
    let identity: FileIdentity
    /// True if the holder's line may be written: never into a file that somebody has put or linked there.
    private let isOurs: Bool
    /// `nil` once the lock was given back: the number may be that of another file by then.
    private let descriptor: Guarded<Int32?>

    private let wasSnapshotFound = Guarded(false)

    /// True if there was a snapshot when the lock was taken.
    ///
    /// Only the holder of the lock makes or removes one, so the holder needn't look again.
    var hasFoundSnapshot: Bool { wasSnapshotFound.withLock { $0 } }

    /// The locks under which asynchronous closures of this process run, with the paths of their files.
    private static let held = Guarded<[(holder: ObjectIdentifier, identity: FileIdentity, path: String)]>([])

    /// Takes the descriptor over, also to close it where this throws.
    private init(_ descriptor: Int32, _ location: StateLocation) throws(SystemCallError) {
        do throws(SystemCallError) {
            let file = try FileStatus(ofOpen: descriptor)
            if file.kind != .file { throw SystemCallError.unsupported(location.lock) }
            identity = file.identity
            let folder = Platform.isOwn(file) ? nil : try Platform.status(location.directory, following: true)
            isOurs = file.links == 1 && file.owner == (folder?.owner ?? file.owner)
            self.descriptor = Guarded(descriptor)
        } catch {
            Platform.closeAfterReading(descriptor)
            throw error
        }
    }

    deinit { unlock() }

    /// Opens the lock's file without taking the lock, making its directory where there is none; not for a manager that only looks.
    static func open(_ location: StateLocation) throws(MigrationError) -> FileLock {
        if location.isReadOnly { throw .readOnly(location) }
        do throws(SystemCallError) {
            let (path, folder) = (location.lock, location.directory)
            let opened = try Platform.ignoring([Platform.noEntry], Platform.openLock(path, in: folder))
            if let opened { return try FileLock(opened, location) }
            try Platform.makeDirectories(folder)
            return try FileLock(Platform.openLock(path, in: folder), location)
        } catch {
            throw unavailable(location, error)
        }
    }

    private static func unavailable(_ location: StateLocation, _ cause: SystemCallError) -> MigrationError {
        location.error(
            .stateNotSaved,
            at: cause.path ?? location.lock,
            because: cause,
            "The lock \(location.lock) of \(location) could not be taken: \(cause).",
            advice: "Make the folder and the files in it writable for this process, and start again."
        )
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
            return try descriptor.withLock { descriptor throws(SystemCallError) in
                guard let descriptor else { return .lost }
                guard try Platform.tryLock(descriptor) else { return .held }
                // A lock whose file was removed or replaced while this process waited guards nothing.
                guard try stands(at: location) else { return .lost }
                let snapshot = try location.existingSnapshot()
                if let snapshot, try Platform.isLocked(snapshot + "/list") {
                    Platform.release(descriptor)
                    return .claimed
                }
                if isAsynchronous {
                    Self.held.withLock { $0.append((ObjectIdentifier(self), identity, location.lock)) }
                }
                wasSnapshotFound.withLock { $0 = snapshot != nil }
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
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            Self.held.withLock { $0.removeAll { $0.holder == ObjectIdentifier(self) } }
            descriptor = nil
            Platform.unlock(open)
        }
    }

    /// Syncs all of the file system that the lock is on to disk; `false` where that can't be relied on.
    ///
    /// It tells of what could not be written since the lock's file was opened.
    func flushFileSystem() throws(SystemCallError) -> Bool {
        try descriptor.withLock { descriptor throws(SystemCallError) in
            guard let descriptor else { return false }
            return try Platform.flushFileSystem(of: descriptor)
        }
    }

    /// The flush of the file system that the lock's file is on.
    var flush: FileSystemFlush {
        FileSystemFlush(device: identity.device) { [self] () throws(SystemCallError) in
            try flushFileSystem()
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
        descriptor.withLock { descriptor in
            do throws(SystemCallError) {
                if let descriptor, let line = try Platform.contents(ofOpen: descriptor, limit: 64) {
                    let number = String(decoding: line, as: UTF8.self).number
                    if number != 0 { return "process \(Int(truncatingIfNeeded: number))" }
                }
            } catch {
                // The caller is told that it waited, whoever has the lock.
            }
            return "an unknown process"
        }
    }
}
