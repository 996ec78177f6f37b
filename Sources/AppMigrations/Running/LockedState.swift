/// A state whose lock this process holds.
///
/// Only this class saves the state, and restores or removes protected files. An object of this class exists
/// only while the lock is held. When the last reference to the object is gone, the lock is released.
///
/// The lock is a file at a known path. If that file is removed or replaced, another process can lock the new
/// file and use the state at the same time. So before anything is written, ``confirmLock()`` checks that the
/// locked file is still at that path.
final class LockedState {
    let reporter: Reporter
    let lock: FileLock

    /// The state as this process last read or saved it; `nil` if there is no state.
    ///
    /// While a closure runs, this state also contains the record of the running attempt (its `Interruption`)
    /// with the checkpoint that was saved last. Only this object has the current one.
    private(set) var state: MigrationState?

    /// True if the lock was lost, so that another process may be using the state.
    ///
    /// From then on, this object writes and restores nothing.
    private(set) var isLost = false

    /// True if the state that was saved last is in the file, but may not survive a power failure.
    private(set) var mayNotSurvivePowerFailure = false

    /// The paths of files that a restore replaced and renamed in their own folders.
    ///
    /// A restore moves each file that it replaces into the snapshot. It renames a file only if it can't move
    /// it.
    var renamedInPlace: [String] = []

    var location: StateLocation { reporter.location }

    /// Reads the state under a lock that the caller has just taken.
    ///
    /// If `recovering` is true, this also restores the files of a migration in which a process crashed, and
    /// removes copies that the state doesn't refer to.
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

    /// Makes a locked state from a lock that the caller holds, and the state that it read while holding it.
    init(_ lock: FileLock, reporter: Reporter, state: MigrationState?) {
        self.reporter = reporter
        self.lock = lock
        self.state = state
    }

    // Release the lock here. Releasing the last `FileLock` would be too late: the app may keep a closure's
    // context for longer than the closure runs, and the context has a reference to the `FileLock`.
    deinit { lock.unlock() }

    /// Returns the state.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable` if there is no state. It existed when the
    ///   manager was created, so it has been removed since then.
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
    /// If this throws although the new state is in the file, ``mayNotSurvivePowerFailure`` is true.
    func save(_ new: MigrationState) throws(MigrationError) {
        mayNotSurvivePowerFailure = false
        try confirmLock()
        guard let document = new.documentToSave else { throw tooLargeError() }
        do throws(SystemCallError) {
            // Before the first state is saved, the directory and all folders above it are synced, so that a
            // power failure can't remove them. This process may not have created the directory: another
            // process may have created it and crashed before it synced the folders. Links in the path aren't
            // resolved, because this library didn't create the folder that a link leads to.
            if state == nil {
                try FileTree.synchronizeFolders(from: [FilePaths.parent(location.directory)], upTo: "/")
            }
            try StateFile(location: location).replace(with: document)
        } catch {
            throw location.error(
                .stateNotSaved,
                because: error,
                "The state of \(location) could not be saved: \(error). The file has the old state.",
                advice: "Make room on the disk, or make the folder writable, and start the app again."
            )
        }
        state = new
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            mayNotSurvivePowerFailure = true
            throw location.error(
                .stateNotSaved,
                because: error,
                "The new state of \(location) was saved, but may not survive a power failure: \(error)."
            )
        }
    }

    /// Makes the error for a state that is too large: the next read would refuse it.
    private func tooLargeError() -> MigrationError {
        location.error(
            .stateNotSaved,
            """
            The state of \(location) could not be saved: it would be larger than 1 MiB, even without the rows of its history. \
            The file has the old state.
            """,
            advice: """
                If the file has JSON members that this library didn't write, remove them. Otherwise call \
                MigrationManager.forgetState(named:stateDirectory:lockTimeout:), and answer firstRun: with existingData(at:) and the \
                version of the data.
                """
        )
    }

    /// Saves a state, for a caller that continues even if the save fails.
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

    /// Saves a state, and adds `consequence` to the error if the new state isn't in the file.
    func save(
        _ new: MigrationState,
        version: AppVersion?,
        consequenceOfFailure consequence: Message
    ) throws(MigrationError) {
        guard let failure = saveBestEffort(new) else { return }
        throw mayNotSurvivePowerFailure ? failure : failure.adding(consequence, version: version)
    }

    /// Throws if the locked file isn't at the lock's path any more.
    ///
    /// The app's code may have removed it, and another process may have locked a new file at that path.
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
            "The lock of \(location) is lost: \(reason). Since then, nothing was written to the state.",
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

    /// Waits for the lock on this thread, and doesn't read the state.
    static func takeLock(_ reporter: Reporter, timeout: Duration?) throws(MigrationError) -> FileLock {
        var wait = LockWait(reporter, version: nil, timeout: timeout, caller: .synchronous)
        while true {
            if let lock = try wait.step() { return lock }
            Platform.pause(wait.pause)
        }
    }

    /// Waits for the lock while the task is suspended, and doesn't read the state.
    nonisolated(nonsending) static func takeLock(
        _ reporter: Reporter,
        timeout: Duration?
    ) async throws(MigrationError) -> FileLock {
        var wait = LockWait(reporter, version: nil, timeout: timeout, caller: .asynchronous)
        while true {
            if let lock = try wait.step() { return lock }
            // If the task is cancelled, the sleep ends early, and the next step throws.
            do { try await Task.sleep(nanoseconds: Platform.nanoseconds(wait.pause)) } catch {}
        }
    }

    /// Takes the lock if it is free, or waits for it on this thread while `shouldWait` returns true.
    ///
    /// - Returns: `nil` if the lock isn't free and `shouldWait` returned false.
    static func takeIfFree(
        _ reporter: Reporter,
        timeout: Duration?,
        orWaitWhile shouldWait: () throws(MigrationError) -> Bool
    ) throws(MigrationError) -> LockedState? {
        if let lock = try FileLock.takeIfFree(at: reporter.location) {
            return try LockedState(lock, reporter: reporter)
        }
        if try !shouldWait() { return nil }
        var wait = LockWait(reporter, version: nil, timeout: timeout, caller: .start)
        repeat {
            if let lock = try wait.step() { return try LockedState(lock, reporter: reporter) }
            Platform.pause(wait.pause)
        } while try shouldWait()
        return nil
    }
}
