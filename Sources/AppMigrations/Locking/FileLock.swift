/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// A ``LockedState`` holds the lock as long as it exists. When a process ends or is killed, the kernel
/// releases its locks, so no other process waits for it. Two callers in one process exclude each other too,
/// because each of them opens the lock file itself.
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
    /// - Throws: ``MigrationError`` with the code `stateNotSaved`.
    private static func open(at location: StateLocation) throws(MigrationError) -> FileLock {
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
    private enum Outcome {
        /// This caller holds the lock now.
        case taken

        /// Another process, or another caller in this process, holds the lock.
        case held

        /// The file that was opened is no longer at the lock's path.
        case replaced
    }

    /// Takes the lock if it is free.
    ///
    /// If `isAsynchronous` is true, ``isHeldAsynchronously(_:at:)`` returns true for this lock while it is
    /// held. So no other caller in this process blocks its thread to wait for it: the asynchronous closure
    /// may need that thread.
    private func tryTake(
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
                if isAsynchronous {
                    Self.heldAsynchronously.withLock {
                        $0.append((ObjectIdentifier(self), identity, location.lock))
                    }
                }
                if isOurs { Platform.writeHolder(descriptor) }
                return .taken
            }
        } catch {
            throw Self.unavailableError(at: location, because: error)
        }
    }

    /// Takes the lock if it is free now; `nil` if somebody else holds it.
    static func takeIfFree(at location: StateLocation) throws(MigrationError) -> FileLock? {
        while true {
            let lock = try FileLock.open(at: location)
            switch try lock.tryTake(at: location) {
            case .taken: return lock
            case .held: return nil
            case .replaced: continue
            }
        }
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
    private static func isHeldAsynchronously(_ identity: FileIdentity, at location: StateLocation) -> Bool {
        heldAsynchronously.withLock { held in
            held.contains { $0.identity == identity || FilePaths.isSame($0.path, location.lock) }
        }
    }

    /// The process that holds the lock, according to the line in the lock file, for the text of an error.
    private func holder() -> Message {
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

// Waiting for the lock.
extension FileLock {
    /// A wait for the lock, step by step.
    ///
    /// Between two steps, a synchronous caller blocks its thread, and an asynchronous caller suspends its
    /// task.
    struct Wait: ~Copyable {
        private let location: StateLocation
        private let options: MigrationManager.Options
        private let version: AppVersion?

        /// True if the caller blocks its thread while it waits.
        ///
        /// Such a caller must not wait for an asynchronous closure in the same process: that closure may need
        /// the thread that the caller blocks.
        private let blocksThread: Bool

        private var lockNotYetTaken: FileLock?
        private var waitBegan: Duration?
        private var nextPause = Duration.milliseconds(1)

        /// How long to wait before the next step.
        private(set) var pause = Duration.zero

        private static var longestPause: Duration { .milliseconds(32) }

        /// The wait lasts at least this long, even if the option `lockTimeout` is shorter.
        ///
        /// A process that only reads the status also holds the lock for a moment. The wait should last longer
        /// than that moment.
        private static var shortestTimeout: Duration { .milliseconds(10) }

        /// `version` is the migration that the caller wants to run with the lock; `nil` if the call is not
        /// about one migration.
        init(
            at location: StateLocation,
            options: MigrationManager.Options,
            version: AppVersion? = nil,
            blocksThread: Bool
        ) {
            self.location = location
            self.options = options
            self.version = version
            self.blocksThread = blocksThread
        }

        /// Tries once to take the lock; `nil` if it isn't free.
        ///
        /// - Throws: ``MigrationError`` with the code `nested`, `lockTimeout`, `cancelled` or
        ///   `stateNotSaved`.
        mutating func step() throws(MigrationError) -> FileLock? {
            let lock = if let lockNotYetTaken { lockNotYetTaken } else { try FileLock.open(at: location) }
            if lockNotYetTaken == nil, try RunToken.enclosing(location) != nil {
                throw .nested(version, in: location)
            }
            lockNotYetTaken = nil
            switch try lock.tryTake(at: location, isAsynchronous: !blocksThread) {
            case .taken: return lock
            case .replaced: return try step()
            case .held: lockNotYetTaken = lock
            }
            if blocksThread, FileLock.isHeldAsynchronously(lock.identity, at: location) {
                throw .nested(version, in: location)
            }
            if continueWaiting() { return nil }
            throw endError(waitingFor: "the lock \(location.lock), which \(lock.holder()) holds")
        }

        /// Sends an event when the wait begins, and sets the pause before the next step.
        ///
        /// - Returns: False if the task is cancelled or the time is over.
        private mutating func continueWaiting() -> Bool {
            if Task.isCancelled { return false }
            let now = Platform.awake
            let beginning = waitBegan ?? now
            if waitBegan == nil {
                waitBegan = beginning
                location.send(.waiting, of: version, to: options.onEvent)
            }
            pause = nextPause
            nextPause = min(nextPause * 2, Self.longestPause)
            guard let timeout = options.lockTimeout else { return true }
            let remaining = max(timeout, Self.shortestTimeout) - (now - beginning)
            pause = min(pause, remaining)
            return remaining > .zero
        }

        /// Makes the error of a wait that ended without the lock: `cancelled` or `lockTimeout`.
        private func endError(waitingFor subject: Message) -> MigrationError {
            guard let timeout = options.lockTimeout, !Task.isCancelled else {
                return location.cancelled(version, while: "waited for \(subject)")
            }
            return location.error(
                .lockTimeout,
                version: version,
                at: location.lock,
                isTransient: true,
                "The \(location) waited \(timeout.description) for \(subject).",
                advice: "Wait until that process has finished, and try again with a new manager."
            )
        }
    }

    /// Waits for the lock on this thread.
    static func take(
        at location: StateLocation,
        options: MigrationManager.Options
    ) throws(MigrationError) -> FileLock {
        var wait = Wait(at: location, options: options, blocksThread: true)
        while true {
            if let lock = try wait.step() { return lock }
            Platform.pause(wait.pause)
        }
    }

    /// Waits for the lock while the task is suspended.
    nonisolated(nonsending) static func take(
        at location: StateLocation,
        options: MigrationManager.Options
    ) async throws(MigrationError) -> FileLock {
        var wait = Wait(at: location, options: options, blocksThread: false)
        while true {
            if let lock = try wait.step() { return lock }
            await Platform.suspend(wait.pause)
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
