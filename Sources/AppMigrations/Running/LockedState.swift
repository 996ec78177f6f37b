/// A state while its lock is held: read again, with what a dead process left put back.
///
/// There is no other way to save, restore or remove anything of a state, and no way to have one without the lock. The lock
/// goes back with the last reference.
///
/// The lock guards only what its path leads to. So before anything is written the locked file has to be the one at the
/// path: where another file stands there, another process may have the state.
final class LockedState {
    let file: StateFile
    let reporter: Reporter
    private(set) var lock: FileLock

    /// What stands in the file, as far as the holder of the lock knows; `nil` where there is no state.
    private(set) var state: MigrationState?

    /// Whether the app's code removed the state, perhaps with its folder.
    private var isFolderNew = false

    var location: StateLocation { file.location }
    var identity: FileIdentity { lock.identity }

    /// Takes over a lock that is held.
    ///
    /// Without `recovering` nothing is put back or cleared away: for a caller that gives a restore up.
    @inline(never)
    init(
        _ lock: FileLock,
        _ file: StateFile,
        _ reporter: Reporter,
        recovering: Bool = true
    ) throws(MigrationError) {
        self.file = file
        self.reporter = reporter
        self.lock = lock
        // What was known of the state before the lock was taken may be outdated.
        state = try file.readState()
        if recovering { try recover() }
    }

    deinit { lock.unlock() }

    func save(_ new: MigrationState) throws(SaveFailure) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw SaveFailure(cause: error, isRenamed: false)
        }
        if state == nil || isFolderNew { try synchronizeFolder() }
        do throws(SaveFailure) {
            try file.save(new)
        } catch {
            if error.isRenamed { state = new }
            throw error
        }
        state = new
    }

    /// Makes the state's folder durable, before the first state in it says anything.
    private func synchronizeFolder() throws(SaveFailure) {
        do throws(SystemCallError) {
            try Platform.synchronizeNames(above: location.directory)
        } catch {
            throw SaveFailure(cause: error, isRenamed: false)
        }
    }

    /// The same, with what it means for the caller that the save failed.
    func save(
        _ new: MigrationState,
        _ version: AppVersion?,
        else consequence: Message
    ) throws(MigrationError) {
        do throws(SaveFailure) {
            try save(new)
        } catch {
            throw .notSaved(error, version, location, consequence: consequence)
        }
    }

    func remove() throws(MigrationError) {
        do throws(LockLoss) {
            try confirm()
        } catch {
            throw .lockLost(error, nil, location, consequence: "The state was not removed.")
        }
        do throws(SystemCallError) {
            try file.remove()
        } catch {
            throw .notRemoved(error, location)
        }
        state = nil
    }

    /// The state, which was there when the manager was made.
    func existing() throws(MigrationError) -> MigrationState {
        if let state { return state }
        throw .gone(location)
    }

    /// Throws when the lock is not the one at its path, or not this process's.
    func confirm() throws(LockLoss) {
        if lock.process != Platform.process { throw .inChild(of: lock.process) }
        do throws(SystemCallError) {
            if try lock.stands(at: location) { return }
        } catch {
            throw .unknown(error)
        }
        throw .gone
    }

    /// Makes sure of the lock after code of the app ran, which may have removed the state's folder or closed the lock's
    /// descriptor: takes the lock again where no other process did anything with the state meanwhile.
    func takeAgain() throws(LockLoss) {
        do throws(LockLoss) {
            return try confirm()
        } catch {
            guard error.isMendable else { throw error }
        }
        guard let new = try free() else { throw .taken }
        // From here on the new lock is the one that is given back, whatever comes.
        lock.unlock()
        lock = new
        let found: MigrationState?
        do throws(MigrationError) {
            found = try file.readState()
        } catch {
            throw .notAgain(error)
        }
        // A state that the app's code removed is made again. A state that differs was saved by a process that had the lock.
        if let found, found != state { throw .overwritten }
        if found == nil { isFolderNew = true }
    }

    private func free() throws(LockLoss) -> FileLock? {
        do throws(LockFailure) {
            return try FileLock.ifFree(location, isClaimant: true)
        } catch {
            throw .notAgain(.lock(error, location))
        }
    }

    /// Tells the app of something that happened under the lock.
    func send(_ event: MigrationEvent) { reporter.send(event, lock: identity) }
}
