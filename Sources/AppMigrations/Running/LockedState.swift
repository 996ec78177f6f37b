/// A state while its lock is held.
///
/// The state was read after the lock was taken. If a process died in a migration with protected files, those
/// files were restored.
///
/// There is no other way to save, restore or remove anything of a state, and no way to have a value of this
/// type without the lock. The lock is released with the last reference.
///
/// The lock is a file at a known path. If that file is removed or replaced, another process can lock the new
/// file and use the state at the same time. So before anything is written, ``confirmLock()`` checks that the
/// locked file is still there.
final class LockedState {
    let reporter: Reporter
    let lock: FileLock

    /// The state in the file, as far as the holder of the lock knows; `nil` if there is none.
    ///
    /// While a closure runs, this state includes the note that the migration has begun (the intent) and its
    /// checkpoints. Nothing else in memory has them.
    private(set) var state: MigrationState?

    /// True if the lock was lost, so another process may be using the state.
    ///
    /// Nothing is written or restored any more.
    private(set) var isLost = false

    /// True if the state that was saved last is in the file, but may not survive a power failure.
    private(set) var isUncertain = false

    /// A restore moves the files that it replaces into the snapshot.
    ///
    /// These are the ones that it couldn't move; it renamed them in their own folders instead.
    private var renamedInPlace: [String] = []

    var location: StateLocation { reporter.location }

    /// Takes ownership of a lock that this process has just taken, and reads the state.
    ///
    /// If `recovering` is false, nothing is restored or removed.
    convenience init(
        _ lock: FileLock,
        reporter: Reporter,
        recovering: Bool = true
    ) throws(MigrationError) {
        // A state that was read before the lock was taken may be outdated.
        let state = try StateFile(location: reporter.location).readState()
        self.init(lock, reporter: reporter, state: state)
        if recovering { try recover() }
    }

    /// Takes over a lock that is held, with the state that was read under it.
    init(_ lock: FileLock, reporter: Reporter, state: MigrationState?) {
        self.reporter = reporter
        self.lock = lock
        self.state = state
    }

    // The lock is released here, because a context that outlived its closure has a reference to it too.
    deinit { lock.unlock() }

    /// The state, or an error if there is none.
    ///
    /// It existed when the manager was created, so it must have been removed since.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable` if it was removed since.
    func existing() throws(MigrationError) -> MigrationState {
        if let state { return state }
        throw .gone(location)
    }

    func send(_ event: MigrationEvent) { reporter.send(event) }
}

// Saving.
extension LockedState {
    /// Saves a state.
    ///
    /// If it throws, ``isUncertain`` says whether the new state is in the file all the same.
    func save(_ new: MigrationState) throws(MigrationError) {
        isUncertain = false
        try confirmLock()
        guard let document = new.documentToSave else { throw tooLargeError() }
        do throws(SystemCallError) {
            // Before the first state is saved, the directory and all folders above it are synced, so that a
            // power failure can't remove them. Another process may have created the directory, and may have
            // died before it synced it. Links in the path aren't resolved: this library didn't create the
            // folder that a link leads to.
            if state == nil {
                try FileTree.synchronizeFolders(from: FilePaths.parent(location.directory), upTo: "/")
            }
            try StateFile(location: location).replace(with: document)
        } catch {
            throw location.error(
                .stateNotSaved,
                because: error,
                "The state of \(location) could not be saved: \(error). The file has the old state.",
                advice: "Make room on the disk, or make the folder writable, and start again."
            )
        }
        state = new
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            isUncertain = true
            throw location.error(
                .stateNotSaved,
                because: error,
                "The new state of \(location) was saved, but may not survive a power failure: \(error)."
            )
        }
    }

    /// The error for a state that would be refused by the next read.
    private func tooLargeError() -> MigrationError {
        location.error(
            .stateNotSaved,
            """
            The state of \(location) could not be saved: it would be larger than 1 MiB, even without the rows of its history. \
            The file has the old state.
            """,
            advice: """
                Remove the members that this library didn't write from the file. If there are none, call \
                MigrationManager.forgetState(named:stateDirectory:lockTimeout:), and answer firstRun: with existingData(at:) and the \
                version of the data.
                """
        )
    }

    /// Saves a state if that is possible, for a caller that goes on in either case.
    ///
    /// - Returns: The error, if it could not be saved.
    func saveBestEffort(_ new: MigrationState) -> MigrationError? {
        do throws(MigrationError) {
            try save(new)
            return nil
        } catch {
            return error
        }
    }

    /// Saves a state, and adds `consequence` to the error if that fails.
    func save(
        _ new: MigrationState,
        version: AppVersion?,
        consequenceOfFailure consequence: Message
    ) throws(MigrationError) {
        guard let failure = saveBestEffort(new) else { return }
        throw isUncertain ? failure : failure.adding(consequence, version: version)
    }

    /// Throws if the locked file is not the one at the lock's path.
    ///
    /// Code of the app may have removed it, and another process may have locked a new one.
    func confirmLock() throws(MigrationError) {
        let isCurrent: Bool
        do throws(SystemCallError) {
            isCurrent = try lock.isCurrentFile(at: location)
        } catch {
            throw lostError(reason: "its file could not be examined, \(error)", because: error)
        }
        if !isCurrent { throw lostError(reason: "its file was removed or replaced") }
    }

    private func lostError(reason: Message, because cause: SystemCallError? = nil) -> MigrationError {
        isLost = true
        return location.error(
            .stateNotSaved,
            at: location.lock,
            because: cause,
            "The lock of \(location) is lost: \(reason). Nothing was written to the state without the lock.",
            advice: """
                Never remove or replace \(location.lock). Create a new manager, which reads the state again.
                """
        )
    }
}

// Taking the lock.
extension LockedState {
    /// Waits for the lock on this thread, and reads the state.
    static func take(
        _ reporter: Reporter,
        timeout: Duration?,
        recovering: Bool = true
    ) throws(MigrationError) -> LockedState {
        let lock = try takeLock(reporter, timeout: timeout)
        return try LockedState(lock, reporter: reporter, recovering: recovering)
    }

    /// Waits for the lock on this thread, and reads nothing yet.
    static func takeLock(_ reporter: Reporter, timeout: Duration?) throws(MigrationError) -> FileLock {
        var wait = LockWait(reporter, version: nil, timeout: timeout, caller: .synchronous)
        while true {
            if let lock = try wait.step() { return lock }
            Platform.pause(wait.pause)
        }
    }

    /// Takes the lock if it is free, or waits for it on this thread as long as `isAwaited` returns true;
    /// `nil` if the lock wasn't free and is no longer awaited.
    static func take(
        ifFree reporter: Reporter,
        timeout: Duration?,
        orWhile isAwaited: () throws(MigrationError) -> Bool
    ) throws(MigrationError) -> LockedState? {
        if let lock = try FileLock.takeIfFree(at: reporter.location) {
            return try LockedState(lock, reporter: reporter)
        }
        if try !isAwaited() { return nil }
        var wait = LockWait(reporter, version: nil, timeout: timeout, caller: .start)
        repeat {
            if let lock = try wait.step() { return try LockedState(lock, reporter: reporter) }
            Platform.pause(wait.pause)
        } while try isAwaited()
        return nil
    }
}

// Restoring protected files, and removing their copies.
extension LockedState {
    /// If a process died in a migration with protected files, restores those files from their copies.
    ///
    /// If there are copies that the state doesn't refer to, removes them.
    ///
    /// Call this first after taking the lock. Otherwise the app could write new data to those files, and the
    /// restore would overwrite it.
    func recover() throws(MigrationError) {
        guard let state else { return }
        let version = state.versions.interruption?.version
        if state.versions.awaitsRestore, let version {
            try restore(version)
            try finishRestore(state)
            return
        }
        if lock.hasFoundSnapshot { discardSnapshot(of: version) }
    }

    /// Moves copies aside that a first run found.
    ///
    /// They belong to an earlier state, which was lost.
    ///
    /// The files themselves may be damaged, so the copies must survive. A later start would remove copies
    /// that its state doesn't refer to. If they can't be moved or marked as kept, they stay where they are.
    /// The first save then fails too and reports the problem with the folder.
    func keepUnlistedCopies(at time: Int64 = Platform.now) {
        cleanUpSnapshot(of: nil) { files in
            try files.keep(asOf: time).map { SavedFiles.Kept(path: $0, reason: .stateLost) }
        }
    }

    /// Removes the copies that the state doesn't refer to.
    ///
    /// Copies that may still be needed are moved aside instead.
    func discardSnapshot(of version: AppVersion?) {
        cleanUpSnapshot(of: version) { files in
            try confirmLock()
            return try files.discard()
        }
    }

    /// Removes or keeps copies that no state asks for, and sends an event if some remain.
    private func cleanUpSnapshot(
        of version: AppVersion?,
        _ cleanUp: (SavedFiles) throws -> SavedFiles.Kept?
    ) {
        var event = MigrationEvent(.leftoverNotRemoved, managerName: location.name, version: version)
        do {
            guard let files = try SavedFiles(in: location, of: version), let kept = try cleanUp(files) else {
                return
            }
            event.error = location.keptFilesError(kept)
        } catch {
            event.error = location.protectionError(.cleaningUp, of: version, because: error)
        }
        send(event)
    }

    /// Restores the files that the migration of `version` protects, if the lock is not lost.
    func restore(_ version: AppVersion) throws(MigrationError) {
        do {
            try confirmLock()
            guard let files = try SavedFiles(in: location, of: version) else {
                throw SavedFiles.missingError(in: location, of: version)
            }
            renamedInPlace += try files.restore { [self] fraction, note in
                var event = MigrationEvent(.progressed, managerName: location.name, version: version)
                event.fraction = fraction
                event.note = note
                event.isCopying = true
                send(event)
            }
        } catch {
            throw location.protectionError(.restoring, of: version, because: error)
        }
    }

    /// First saves in the state that the protected files are restored, then removes their copies.
    ///
    /// As long as the state asks for the copies, each start looks for files that are still to be restored.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        let version = restored.versions.interruption?.version
        if let failure = saveBestEffort(restored.endingRestore()) {
            throw location.protectionError(.savingUnchanged, of: version, because: failure)
        }
        // Send the events after the save. Until it is saved, another start
        // waits for this thread. An event handler that waits for that start would then deadlock.
        send(MigrationEvent(.restored, managerName: location.name, version: version))
        for path in renamedInPlace {
            var event = MigrationEvent(.leftoverNotRemoved, managerName: location.name, version: version)
            event.error = location.keptFilesError(SavedFiles.Kept(path: path, reason: .notMovable))
            send(event)
        }
        renamedInPlace = []
        discardSnapshot(of: version)
    }
}
