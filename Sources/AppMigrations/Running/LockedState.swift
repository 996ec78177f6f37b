/// A state while its lock is held: read again, with what a dead process left put back.
///
/// There is no other way to save, restore or remove anything of a state, and no way to have one without the lock. The lock
/// goes back with the last reference.
///
/// The lock guards only what its path leads to. So before anything is written the locked file has to be the one at the
/// path: where another file stands there, another process may have the state.
final class LockedState {
    let reporter: Reporter
    let lock: FileLock

    /// The state in the file, as far as the holder of the lock knows; `nil` where there is none.
    private(set) var state: MigrationState?

    /// True if another process may have the state: nothing is written or put back any more.
    private(set) var isLost = false

    /// True if the state that was saved last stands, and only its survival of a power failure is uncertain.
    private(set) var isUncertain = false

    /// What a restore replaced and had to leave beside its place.
    private var keptBeside: [String] = []

    var location: StateLocation { reporter.location }

    /// Takes over a lock that is held.
    ///
    /// Without `recovering` nothing is put back or cleared away: for a caller that gives a restore up.
    convenience init(_ lock: FileLock, _ reporter: Reporter, recovering: Bool = true) throws(MigrationError) {
        // Knowledge of the state from before the lock was taken may be outdated.
        let state = try StateFile(location: reporter.location).readState()
        self.init(lock, reporter, holding: state)
        if recovering { try recover() }
    }

    /// Takes over a lock that is held, with the state that was read under it.
    init(_ lock: FileLock, _ reporter: Reporter, holding state: MigrationState?) {
        self.reporter = reporter
        self.lock = lock
        self.state = state
    }

    // A context that outlived its closure has the lock too.
    deinit { lock.unlock() }

    /// Saves a state; after a throw ``isUncertain`` says whether it stands all the same.
    func save(_ new: MigrationState) throws(MigrationError) {
        isUncertain = false
        try confirm()
        do throws(SystemCallError) {
            // The folder is durable before the first state in it says anything. Another process may have made it, and have died before
            // it synced the name. The path isn't resolved: where a link is on it, this library didn't make what lies behind.
            if state == nil {
                try FileTree.synchronizeFolders(from: FilePaths.parent(location.directory), upTo: "/")
            }
            try StateFile(location: location).replace(with: new)
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

    /// Saves what is worth knowing but can't be insisted on; gives why that failed.
    func note(_ new: MigrationState) -> MigrationError? {
        do throws(MigrationError) {
            try save(new)
            return nil
        } catch {
            return error
        }
    }

    /// Saves a state, and says what it means for the caller if that fails.
    func save(
        _ new: MigrationState,
        _ version: AppVersion?,
        else consequence: Message
    ) throws(MigrationError) {
        guard let failure = note(new) else { return }
        throw isUncertain ? failure : failure.adding(consequence, version: version)
    }

    /// The state, which was there when the manager was made.
    func existing() throws(MigrationError) -> MigrationState {
        if let state { return state }
        throw .gone(location)
    }

    /// Throws when the lock is not the one at its path: code of the app may have removed it, and another process taken the next.
    func confirm() throws(MigrationError) {
        let stands: Bool
        do throws(SystemCallError) {
            stands = try lock.stands(at: location)
        } catch {
            throw lost("its file could not be examined, \(error)", error)
        }
        if !stands { throw lost("its file was removed or replaced") }
    }

    private func lost(_ how: Message, _ cause: SystemCallError? = nil) -> MigrationError {
        isLost = true
        return location.error(
            .stateNotSaved,
            at: location.lock,
            because: cause,
            "The lock of \(location) is lost: \(how). Nothing was written to the state without the lock.",
            advice: """
                Never remove or replace \(location.lock). Make a new manager, which reads the state again.
                """
        )
    }

    func send(_ event: MigrationEvent) { reporter.send(event) }
}

extension LockedState {
    static func take(
        _ reporter: Reporter,
        timeout: Duration?,
        recovering: Bool = true
    ) throws(MigrationError) -> LockedState {
        try LockedState(lock(reporter, timeout: timeout), reporter, recovering: recovering)
    }

    /// Takes the lock, and reads nothing yet.
    static func lock(_ reporter: Reporter, timeout: Duration?) throws(MigrationError) -> FileLock {
        var wait = LockWait(reporter, nil, timeout: timeout, .synchronous)
        while true {
            if let lock = try wait.step() { return lock }
            Platform.pause(wait.pause)
        }
    }

    /// Takes the lock if it is free, or waits on this thread while `isAwaited`; `nil` where neither gives it.
    static func take(
        ifFree reporter: Reporter,
        timeout: Duration?,
        orWhile isAwaited: () throws(MigrationError) -> Bool
    ) throws(MigrationError) -> LockedState? {
        if let lock = try FileLock.ifFree(reporter.location) { return try LockedState(lock, reporter) }
        if try !isAwaited() { return nil }
        var wait = LockWait(reporter, nil, timeout: timeout, .start)
        repeat {
            if let lock = try wait.step() { return try LockedState(lock, reporter) }
            Platform.pause(wait.pause)
        } while try isAwaited()
        return nil
    }
}

/// Protected files under the lock: put back, and their copies removed.
extension LockedState {
    /// Puts back what the intent of a dead process protected, before anyone can write newer data over it, and clears away a
    /// snapshot that no intent asks for: the first thing that is done under the lock.
    func recover() throws(MigrationError) {
        guard let state else { return }
        let version = state.marks.interruption?.version
        if state.marks.awaitsRestore, let version {
            try restore(version)
            try finishRestore(state)
            return
        }
        if lock.hasFoundSnapshot { discardSnapshot(version) }
    }

    /// Moves copies aside that were found before the first state: the state that asked for them was lost.
    ///
    /// They may be the only good ones, and beside a state that doesn't ask for them they would be removed. If they can be neither
    /// moved nor marked they stay, and the first save reports the error of the folder.
    func keepUnlisted(at time: Int64 = Platform.now) {
        cleanUpSnapshot(of: nil) { files in
            try files.keep(asOf: time).map { SavedFiles.Kept(path: $0, reason: .stateLost) }
        }
    }

    /// Removes the copies that no state asks for, or moves aside what must not be removed.
    func discardSnapshot(_ version: AppVersion?) {
        cleanUpSnapshot(of: version) { files in
            try confirm()
            return try files.discard()
        }
    }

    /// Removes or keeps copies that no state asks for, and sends an event if some remain.
    private func cleanUpSnapshot(of version: AppVersion?, _ cleanUp: (SavedFiles) throws -> SavedFiles.Kept?)
    {
        var event = MigrationEvent(.leftoverNotRemoved, location.name, version: version)
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

    /// Puts files back, if the lock is the one at its path.
    func restore(_ version: AppVersion) throws(MigrationError) {
        do {
            try confirm()
            guard let files = try SavedFiles(in: location, of: version) else {
                throw SavedFiles.missingError(in: location, of: version)
            }
            keptBeside += try files.restore { [self] fraction, note in
                var event = MigrationEvent(.progressed, location.name, version: version)
                event.fraction = fraction
                event.note = note
                event.isCopying = true
                send(event)
            }
        } catch {
            throw location.protectionError(.restoring, of: version, because: error)
        }
    }

    /// Saves that files were put back, and only then removes their copies.
    ///
    /// While the state asks for them, the next start looks again for what is left to be put back.
    func finishRestore(_ restored: MigrationState) throws(MigrationError) {
        let (next, version) = (restored.endingRestore(), restored.marks.interruption?.version)
        if let failure = note(next) {
            throw location.protectionError(.savingRestored, of: version, because: failure)
        }
        // The event comes after the save: until then a start waits for this thread, and the handler may wait for that start.
        send(MigrationEvent(.restored, location.name, version: version))
        for path in keptBeside {
            var event = MigrationEvent(.leftoverNotRemoved, location.name, version: version)
            event.error = location.keptFilesError(SavedFiles.Kept(path: path, reason: .notMovable))
            send(event)
        }
        keptBeside = []
        discardSnapshot(version)
    }
}
