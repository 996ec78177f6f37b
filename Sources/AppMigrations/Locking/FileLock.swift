/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// The kernel releases it when its process dies, so a killed process keeps no other process waiting. Two
/// callers in one process exclude each other too, because each of them has opened the file itself. A
/// ``LockedState`` holds the lock until the last reference to it is released. A running declaration, a
/// manager that saves at its creation, and calls such as a reset keep such a reference.
///
/// The lock file contains one line with the process that holds the lock. It is only for people and error
/// messages; the code makes no decision from it.
final class FileLock: Sendable {
    let identity: FileIdentity

    /// True if the line about the holder may be written.
    ///
    /// Nothing is written into a file that somebody else has put or linked there.
    private let isOurs: Bool

    /// `nil` once the lock was released, because the number may be that of another file then.
    private let descriptor: Guarded<Int32?>

    private let wasSnapshotFound = Guarded(false)

    /// True if copies of protected files (a snapshot) existed when the lock was taken.
    ///
    /// Only the holder of the lock makes or removes a snapshot, so the holder doesn't have to look again.
    var hasFoundSnapshot: Bool { wasSnapshotFound.withLock { $0 } }

    /// The locks under which asynchronous closures of this process run, with the paths of their files.
    private static let heldAsynchronously =
        Guarded<[(holder: ObjectIdentifier, identity: FileIdentity, path: String)]>([])

    /// Takes ownership of the descriptor.
    ///
    /// If this throws, the descriptor is closed.
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

    /// Opens the lock's file without taking the lock.
    ///
    /// If the directory doesn't exist, it is made.
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
            advice: "Make the folder and the files in it writable for this process, and start again."
        )
    }
}

// Taking and releasing.
extension FileLock {
    /// The result of one try.
    enum Outcome {
        case taken

        /// Another process, or another caller in this one, has the lock.
        case held

        /// The lock is free, but somebody removed the earlier lock file, and a closure that holds that
        /// earlier lock is still running. We know because the list of its protected copies is still locked.
        case listHeld

        /// The file that was opened is no longer the one at the lock's path.
        case replaced
    }

    /// Takes the lock if it is free.
    ///
    /// If `isAsynchronous` is true, ``isHeldAsynchronously(_:at:)`` returns true for this lock. Other callers
    /// in this process then don't block their thread, because the closure may need it.
    func tryTake(
        at location: StateLocation,
        isAsynchronous: Bool = false
    ) throws(MigrationError) -> Outcome {
        do throws(SystemCallError) {
            return try descriptor.withLock { descriptor throws(SystemCallError) in
                guard let descriptor else { return .replaced }
                guard try Platform.tryLock(descriptor) else { return .held }
                // If the file was removed or replaced while this process waited, its lock protects nothing.
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
    /// This doesn't wait until that process's closure ends. But if only the list of the copies is still
    /// locked, it tries again for a while: the kernel closes the descriptors of a dead process one after the
    /// other, so the lock of the list may be released a little later.
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

    /// True if the file at the lock's path is the one that this process has locked.
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

    /// True if an asynchronous closure of this process runs under this lock, or under another file at the
    /// same path.
    static func isHeldAsynchronously(_ identity: FileIdentity, at location: StateLocation) -> Bool {
        heldAsynchronously.withLock { held in
            held.contains { $0.identity == identity || FilePaths.isSame($0.path, location.lock) }
        }
    }

    /// The process that has the lock, according to the line in the file, for an error.
    func holder() -> Message {
        descriptor.withLock { descriptor in
            do throws(SystemCallError) {
                if let descriptor, let line = try Platform.contents(ofOpen: descriptor, limit: 64) {
                    let number = String(decoding: line, as: UTF8.self).number
                    if number != 0 { return "process \(Int(truncatingIfNeeded: number))" }
                }
            } catch {
                // The error that the caller gets says that it waited, with or without the holder's number.
            }
            return "an unknown process"
        }
    }
}

// Syncing the file system.
extension FileLock {
    /// Syncs the whole file system of the lock's file to disk; false if that can't be relied on.
    ///
    /// It fails if something could not be written since the lock's file was opened.
    func flushFileSystem() throws(SystemCallError) -> Bool {
        try descriptor.withLock { descriptor throws(SystemCallError) in
            guard let descriptor else { return false }
            return try Platform.flushFileSystem(of: descriptor)
        }
    }

    /// The flush of the lock's file system, for ``FileTree``.
    var flush: FileSystemFlush {
        FileSystemFlush(device: identity.device) { [self] () throws(SystemCallError) in
            try flushFileSystem()
        }
    }
}
