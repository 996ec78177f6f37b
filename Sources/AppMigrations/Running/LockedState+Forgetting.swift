/// A state that its app gives up: it is moved aside, also if it can't be read.
extension LockedState {
    /// Takes the lock, and puts back the files that wait for it if the state can be read.
    ///
    /// A state that may be readable later, as on a device before its first unlock, is none to give up: its error is thrown.
    static func takeToForget(
        _ reporter: Reporter,
        timeout: Duration?
    ) throws(MigrationError) -> LockedState {
        let lock = try lock(reporter, timeout: timeout)
        let state: MigrationState?
        do throws(MigrationError) {
            state = try StateFile(location: reporter.location).readState()
        } catch {
            if error.isTransient { throw error }
            state = nil
        }
        let locked = LockedState(lock, reporter, holding: state)
        try locked.recover()
        return locked
    }

    /// Moves what is at the state's path aside, and returns its new path; `nil` if nothing is there.
    ///
    /// Copies that wait to be put back are kept if the state couldn't be read: they may be the only good ones. They are moved after
    /// the state, because a state that is repaired by hand asks for them. If the process dies in between, the next first run keeps them.
    func moveStateAside() throws(MigrationError) -> String? {
        let file = StateFile(location: location)
        guard try file.exists() else { return nil }
        try confirm()
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
        if state == nil { keepUnlisted(at: time) }
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
