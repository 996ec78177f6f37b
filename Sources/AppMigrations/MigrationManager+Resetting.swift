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
        try underLock { locked throws(MigrationError) in
            guard var state = try locked.read() else { throw .gone(file.location) }
            try locked.recover(&state, options: options)
            state.marks = StateMarks(
                lastRun: version,
                baseline: version,
                launched: currentVersion,
                interrupted: nil
            )
            try save(state, locked, version, "The mark was not set.")
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
        try underLock { locked throws(MigrationError) in
            if var state = try locked.read() { try locked.recover(&state, options: options) }
            try locked.remove()
        }
        core.withLock { core in
            core.standing = .closed(.forgotten(file.location))
            core.fastLimit = .zero
        }
    }

    private func underLock(_ body: (LockedState) throws(MigrationError) -> Void) throws(MigrationError) {
        // A plan's manager, kept after the plan: it is nobody's to change the state with.
        if planner != nil, case .closed(let ended) = core.withLock({ $0.standing }) { throw ended }
        let lock = try FileLock.waiting(file.location, version: nil, options: options) { .now }
        let locked = LockedState(file, lock)
        defer { locked.unlock() }
        try body(locked)
    }
}
