/// `MigrationManager.forgetState`: moves the state file aside, even if the file can't be read.
extension LockedState {
    /// Takes the lock, and restores the files of a migration in which a process crashed, if the state can be
    /// read.
    ///
    /// If the state can't be read now but may be readable later, for example after the first unlock of the
    /// device, it must not be forgotten. In that case, this throws the error with which reading it failed.
    static func takeToForget(
        _ reporter: Reporter,
        timeout: Duration?
    ) throws(MigrationError) -> LockedState {
        let lock = try takeLock(reporter, timeout: timeout)
        let state: MigrationState?
        do throws(MigrationError) {
            state = try StateFile(location: reporter.location).readState()
        } catch {
            if error.isTransient { throw error }
            state = nil
        }
        let locked = LockedState(lock, reporter: reporter, state: state)
        // `forgetState` has no options that say whether to keep the files that the restore replaces, and no
        // event handler that reports the restore. So these files are kept.
        try locked.recover(keepingReplaced: true)
        return locked
    }

    /// Moves the file at the state's path aside, and returns its new path; `nil` if there is no file.
    ///
    /// If the state couldn't be read, the copies of protected files are kept, because the files themselves
    /// may be damaged. The state is moved first, then the copies. If the process crashes between the two
    /// moves, the next start finds no state, so it is a first run and moves the copies aside. In the other
    /// order, a person could repair a state whose copies have been moved away.
    func moveStateAside() throws(MigrationError) -> String? {
        let file = StateFile(location: location)
        guard try file.exists() else { return nil }
        try confirmLock()
        let time = Platform.now
        let path: String
        do throws(SystemCallError) {
            path = try file.moveAside(at: time)
        } catch {
            let text: Message = """
                The state of \(location) could not be moved aside: \(error). The state is unchanged. Make the folder writable \
                for this process and try again.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        if state == nil { keepCopiesOfLostState(at: time) }
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            let text: Message = """
                The state of \(location) was moved to \(path), but a power failure may undo the move: \(error). The next manager \
                begins with a first run.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        return path
    }
}
