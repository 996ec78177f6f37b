extension MigrationManager {
    /// Sets the mark: the data is at `version`, whatever happened before.
    ///
    /// Everything after it is pending again, and an interruption is cleared, also one that had reached the limit of
    /// attempts. The version becomes the baseline, the app's version the newest launched. A closed manager is opened and
    /// its declarations begin anew. For recovery and for tests; waits for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidVersion`, `newerThanCurrentVersion`, `nested`, `lockTimeout`,
    ///   `cancelled`, `stateUnreadable`, `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or
    ///   `stateNotSaved`.
    public func reset(to version: String) throws(MigrationError) {
        let version = try Self.version(version, name)
        if version.exceeds(currentVersion) {
            throw .tooNewReset(version, current: currentVersion, file.location)
        }
        try underLock { lock throws(MigrationError) in
            guard var state = try file.readState() else { throw .gone(file.location) }
            try file.recover(&state, lock, options: options)
            state.marks = StateMarks(
                lastRun: version,
                baseline: version,
                launched: currentVersion,
                interrupted: nil
            )
            try save(state, version, "The mark was not set.")
        }
        core.withLock { core in
            core.isFresh = false
            core.owesLaunch = false
            core.previous = .zero
            core.standing = .open
            core.settle(currentVersion)
        }
    }

    /// Removes the state: this manager is blocked then, and the next one is a first run.
    ///
    /// Waits for the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `nested`, `lockTimeout`, `cancelled`, `stateUnreadable`,
    ///   `stateCorrupted`, `stateFromNewerFormat`, `protectionFailed` or `stateNotSaved`.
    public func forgetState() throws(MigrationError) {
        try underLock { lock throws(MigrationError) in
            if var state = try file.readState() { try file.recover(&state, lock, options: options) }
            do throws(SystemCallError) {
                try file.remove()
            } catch {
                throw .notRemoved(error, file.location)
            }
        }
        core.withLock { core in
            core.standing = .closed(.forgotten(file.location))
            core.fastLimit = .zero
        }
    }

    private func underLock(_ body: (FileLock) throws(MigrationError) -> Void) throws(MigrationError) {
        // A plan's manager, kept after the plan: it is nobody's to change the state with.
        if planner != nil, case .closed(let ended) = core.withLock({ $0.standing }) { throw ended }
        let lock = try FileLock.waiting(file.location, version: nil, options: options) { .now }
        defer { lock.unlock() }
        try body(lock)
    }
}
