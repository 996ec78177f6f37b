/// The steps that a manager performs when it is created.
///
/// First, the state is read, or created on the first run. If this version of the app was never started
/// before, that is saved in the state.
struct Start: ~Copyable {
    let rules: UpgradeRules
    let options: MigrationManager.Options

    private var location: StateLocation { rules.location }
    private var file: StateFile { StateFile(location: location) }

    /// Starts the manager.
    ///
    /// If this version was started before, this only reads the state once.
    func outcome(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        guard var versions = try file.readVersions() else { return try makeState(firstRun) }
        if versions.namesReplacement, !options.isReadOnly, let settled = try settle(versions) {
            versions = settled
        }
        let found = try StartOutcome(found: versions, by: rules)
        if options.isReadOnly || versions.launched >= rules.appVersion { return found }
        return try saveLaunch() ?? found
    }
}

extension Start {
    /// Finishes the work of a process that died while it was replacing a file or a folder.
    ///
    /// A process that reads the status holds the lock for a moment, so this waits for some milliseconds. If
    /// the lock isn't free then, another process is usually still replacing the item, or it is doing what
    /// this function would do.
    ///
    /// - Returns: The versions of the state after that; `nil` if the lock isn't free.
    private func settle(_ versions: StateVersions) throws(MigrationError) -> StateVersions? {
        let lock: FileLock
        do throws(MigrationError) {
            lock = try FileLock.take(at: location, options: .init(lockTimeout: .zero))
        } catch {
            let isHeld = [.lockTimeout, .nested, .cancelled].contains(error.code)
            // A recorded migration's left-over is no reason to refuse a start.
            if isHeld || versions.attemptToSettle == nil { return nil }
            throw error
        }
        var locked = try LockedState(lock, at: location)
        try locked.settleReplacements(sendingTo: options.onEvent)
        return locked.state?.versions
    }

    /// Saves that this version was started, if the lock is free.
    ///
    /// If somebody holds the lock or the save fails, a later start saves it. Until then, each start says that
    /// it is an upgrade.
    ///
    /// - Returns: The outcome of this start by the state that was read with the lock; `nil` if there is none.
    private func saveLaunch() throws(MigrationError) -> StartOutcome? {
        do throws(MigrationError) {
            guard let lock = try FileLock.takeIfFree(at: location) else { return nil }
            var locked = try LockedState(lock, at: location)
            return try saveLaunch(under: &locked)
        } catch {
            if error.code == .stateNotSaved { return nil }
            throw error
        }
    }

    /// Saves that this version was started, and returns the outcome of this start.
    ///
    /// Whether this is an upgrade or a downgrade is decided by the state that was read while the lock is
    /// held: a newer version may have been started since the first read.
    private func saveLaunch(under locked: inout LockedState) throws(MigrationError) -> StartOutcome {
        // Another process may have died in a replacement since the first read.
        try locked.settleReplacements(sendingTo: options.onEvent)
        let state = try locked.existing()
        // Check before saving whether this app can upgrade the data. If it can't, this throws, and the state
        // must not say that the app was started.
        var found = try StartOutcome(found: state.versions, by: rules)
        if state.versions.launched >= rules.appVersion { return found }
        _ = locked.save(state.changed { $0.versions.launched = rules.appVersion })
        found.versions = try locked.existing().versions
        return found
    }

    /// Creates the state on the first run, unless another process creates it first.
    @inline(never)
    private func makeState(
        _ firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> StartOutcome {
        try DefaultLocation.requireNoEscapes(location)
        // A read-only manager doesn't create a state.
        if options.isReadOnly { return try StartOutcome(first: answer(of: firstRun), by: rules) }
        let lock: FileLock
        do throws(MigrationError) {
            lock = try FileLock.take(at: location, options: options)
        } catch {
            // This start found no state, but since then another task of this process has created the state
            // and is migrating. This thread must not wait for that task, because the task may need this
            // thread.
            if error.code == .nested, let versions = try file.readVersions() {
                return try StartOutcome(found: versions, by: rules)
            }
            throw error
        }
        var locked = try LockedState(lock, at: location)
        // Another process created the state while this one waited for the lock.
        if locked.state != nil { return try saveLaunch(under: &locked) }
        let outcome = try StartOutcome(first: answer(of: firstRun), by: rules)
        let state = MigrationState(name: location.name, versions: outcome.versions)
        if let error = locked.save(state).error { throw error.ending(in: .everything) }
        return outcome
    }

    private func answer(
        of firstRun: () throws -> MigrationManager.FirstRun
    ) throws(MigrationError) -> MigrationManager.FirstRun {
        do {
            return try RunToken.withToken(of: location, firstRun)
        } catch {
            throw .firstRunFailed(error, location)
        }
    }
}

extension MigrationError {
    package static func firstRunFailed(_ cause: any Error, _ location: StateLocation) -> MigrationError {
        let text: Message = """
            The firstRun: expression of \(location) failed: \(sentence(cause)) \
            No state was written and no migration was run. The next manager evaluates firstRun: again.
            """
        return location.error(.firstRunFailed, because: cause, text)
    }
}
