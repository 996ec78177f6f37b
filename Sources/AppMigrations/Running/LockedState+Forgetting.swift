/// Forgetting a state: the app asks for it, and the state file is moved aside, even if it can't be read.
extension LockedState {
    /// Takes the lock.
    ///
    /// If the state can be read, also restores the protected files of a migration whose process died.
    ///
    /// If the state may be readable later, for example after the first unlock of a device, it isn't
    /// forgotten, and the error of reading it is thrown.
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
        try locked.recover()
        return locked
    }

    /// Moves the file at the state's path aside, and returns its new path; `nil` if there is no file.
    ///
    /// If the state couldn't be read, the copies of protected files are kept, because the files themselves
    /// may be damaged. They are moved after the state: otherwise, if the process died between the two moves,
    /// a state that someone repairs by hand would refer to copies that were moved away. If the process dies
    /// between the two moves, the next start finds no state, is a first run, and moves the copies aside.
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
                The state of \(location) could not be moved aside: \(error). It is where it was. Make the folder writable for \
                this process and try again.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        if state == nil { keepUnlistedCopies(at: time) }
        do throws(SystemCallError) {
            try Platform.synchronize(location.directory)
        } catch {
            let text: Message = """
                The state of \(location) was moved to \(path), but may be back after a power failure: \(error). The next manager is \
                a first run.
                """
            throw location.error(.stateNotSaved, because: error, text)
        }
        return path
    }
}
