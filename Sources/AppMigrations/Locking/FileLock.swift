/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// A ``LockedState`` holds the lock until the last reference to that object is released. A running
/// declaration, a manager that saves when it is created, and calls such as `reset(to:)` keep such a
/// reference. When a process ends or is killed, the kernel releases its locks, so no other process waits for
/// it. Two callers in one process exclude each other too, because each of them opens the lock file itself.
///
/// The lock file contains one line with the process that holds the lock. It is only for people and error
/// messages; the code makes no decision from it.
final class FileLock: Sendable {
    let identity: FileIdentity

    /// True if the line about the holder may be written.
    ///
    /// The line isn't written into a file that another user has put or linked there.
    private let isOurs: Bool

    /// The descriptor of the lock file; `nil` after the lock was released, because the process may then use
    /// the same number for another file.
    private let descriptor: Guarded<Int32?>

    private let wasSnapshotFound = Guarded(false)

    /// True if copies of protected files (a snapshot) existed when the lock was taken.
    ///
    /// Only the holder of the lock makes or removes a snapshot, so this stays true while the lock is held.
    var hasFoundSnapshot: Bool { wasSnapshotFound.withLock { $0 } }

    /// The locks that asynchronous closures of this process hold, with the paths of the lock files.
    ///
    /// A synchronous call that waited for such a lock would block the thread that the closure may need to
    /// continue. So it looks here, and throws an error instead.
    private static let heldAsynchronously =
        Guarded<[(holder: ObjectIdentifier, identity: FileIdentity, path: String)]>([])

    /// Makes a lock that isn't taken yet from the descriptor of the open lock file.
    ///
    /// If this throws, it has closed the descriptor.
    private init(_ descriptor: Int32, at location: StateLocation) throws(SystemCallError) {
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

    /// Opens the lock file without taking the lock, and creates the state directory if it doesn't exist.
    ///
    /// - Throws: ``MigrationError`` with the code `readOnly` for a read-only manager, or `stateNotSaved`.
    static func open(at location: StateLocation) throws(MigrationError) -> FileLock {
        if location.isReadOnly { throw .readOnly(location) }
        let path = location.lock
        let folder = location.directory
        do throws(SystemCallError) {
            let opened = try Platform.ignoring([Platform.noEntry], Platform.openLock(path, in: folder))
            if let opened { return try FileLock(opened, at: location) }
            try Platform.makeDirectories(folder)
            return try FileLock(Platform.openLock(path, in: folder), at: location)
        } catch {
            throw unavailableError(at: location, because: error)
        }
    }

    private static func unavailableError(
        at location: StateLocation,
        because cause: SystemCallError
    ) -> MigrationError {
        location.error(
            .stateNotSaved,
            at: cause.path ?? location.lock,
            because: cause,
            "The lock \(location.lock) of \(location) could not be taken: \(cause).",
            advice: "Make the folder and the files in it writable for this process, and start the app again."
        )
    }
}

// Taking and releasing.
extension FileLock {
    /// The result of one try to take the lock.
    enum Outcome {
        /// This caller holds the lock now.
        case taken

        /// Another process, or another caller in this process, holds the lock.
        case held

        /// The lock is free, but a closure that protects files is still running, because the list of these
        /// files is locked.
        ///
        /// Somebody has removed the lock file that this closure's process holds.
        case listHeld

        /// The file that was opened is no longer at the lock's path.
        case replaced
    }

    /// Takes the lock if it is free.
    ///
    /// If `isAsynchronous` is true, ``isHeldAsynchronously(_:at:)`` returns true for this lock while it is
    /// held. So no other caller in this process blocks its thread to wait for it: the asynchronous closure
    /// may need that thread.
    func tryTake(
        at location: StateLocation,
        isAsynchronous: Bool = false
    ) throws(MigrationError) -> Outcome {
        do throws(SystemCallError) {
            return try descriptor.withLock { descriptor throws(SystemCallError) in
                guard let descriptor else { return .replaced }
                guard try Platform.tryLock(descriptor) else { return .held }
                // If the opened file was removed or replaced while this process waited, its lock protects
                // nothing.
                guard try isCurrentFile(at: location) else { return .replaced }
                let snapshot = try location.existingSnapshot()
                if let snapshot, try Platform.isLocked(snapshot + "/list") {
                    Platform.release(descriptor)
                    return .listHeld
                }
                if isAsynchronous {
                    Self.heldAsynchronously.withLock {
                        $0.append((ObjectIdentifier(self), identity, location.lock))
                    }
                }
                wasSnapshotFound.withLock { $0 = snapshot != nil }
                if isOurs { Platform.writeHolder(descriptor) }
                return .taken
            }
        } catch {
            throw Self.unavailableError(at: location, because: error)
        }
    }

    /// Takes the lock if it is free now; `nil` if another process holds it.
    ///
    /// If the lock is free and only the list of protected files is locked, this function tries again every
    /// millisecond, `tries` times in all. When a process crashes, the kernel closes its descriptors one after
    /// the other, so it may release the lock of the list a little later than the state's lock.
    static func takeIfFree(at location: StateLocation, tries: Int = 200) throws(MigrationError) -> FileLock? {
        for _ in 1...tries {
            let lock = try FileLock.open(at: location)
            switch try lock.tryTake(at: location) {
            case .taken: return lock
            case .held: return nil
            case .listHeld, .replaced: Platform.pause(.milliseconds(1))
            }
        }
        return nil
    }

    /// True if the file that this process has locked is still at the lock's path.
    func isCurrentFile(at location: StateLocation) throws(SystemCallError) -> Bool {
        try Platform.status(location.lock)?.identity == identity
    }

    /// Releases the lock, if it was taken, and closes its file.
    func unlock() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            Self.heldAsynchronously.withLock { $0.removeAll { $0.holder == ObjectIdentifier(self) } }
            descriptor = nil
            Platform.unlock(open)
        }
    }

    /// True if an asynchronous closure of this process holds this lock, or a lock of the same path.
    static func isHeldAsynchronously(_ identity: FileIdentity, at location: StateLocation) -> Bool {
        heldAsynchronously.withLock { held in
            held.contains { $0.identity == identity || FilePaths.isSame($0.path, location.lock) }
        }
    }

    /// The process that holds the lock, according to the line in the lock file, for the text of an error.
    func holder() -> Message {
        descriptor.withLock { descriptor in
            do throws(SystemCallError) {
                if let descriptor, let line = try Platform.contents(ofOpen: descriptor, limit: 64) {
                    let number = String(decoding: line, as: UTF8.self).number
                    if number != 0 { return "process \(Int(truncatingIfNeeded: number))" }
                }
            } catch {
                // This error is ignored: the text says "an unknown process" instead.
            }
            return "an unknown process"
        }
    }
}

// Syncing the file system.
extension FileLock {
    /// Syncs the whole file system that contains the lock file to disk.
    ///
    /// - Returns: False if such a sync isn't reliable on this system or file system.
    /// - Throws: An error if anything could not be written to that file system since the lock file was
    ///   opened.
    func flushFileSystem() throws(SystemCallError) -> Bool {
        try descriptor.withLock { descriptor throws(SystemCallError) in
            guard let descriptor else { return false }
            return try Platform.flushFileSystem(of: descriptor)
        }
    }

    /// A value with which ``FileTree`` syncs the file system that contains the lock file.
    var flush: FileSystemFlush {
        FileSystemFlush(device: identity.device) { [self] () throws(SystemCallError) in
            try flushFileSystem()
        }
    }
}
