/// The ways to take the lock: each adds to what goes wrong for which manager and migration it was.
extension LockedState {
    /// Waits for the lock on this thread.
    ///
    /// `turn` says whether earlier calls of the same manager are done, and `isWanted` throws where they left nothing to do.
    @inline(never)
    static func take(
        _ file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion? = nil,
        recovering: Bool = true,
        turn: () -> LockWait.Turn = { .now },
        isWanted: () throws(MigrationError) -> Void = {}
    ) throws(MigrationError) -> LockedState {
        let lock: FileLock
        do throws(LockFailure) {
            lock = try FileLock.waiting(file.location, timeout: timeout, turn: turn) {
                reporter.sendWaiting(for: version)
            }
        } catch {
            throw .lock(error, file.location, version)
        }
        try lock.keep(if: isWanted)
        return try LockedState(lock, file, reporter, recovering: recovering)
    }

    /// The same, suspending the task instead of the thread.
    nonisolated(nonsending) static func take(
        asynchronously file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion,
        turn: () -> LockWait.Turn,
        isWanted: () throws(MigrationError) -> Void
    ) async throws(MigrationError) -> LockedState {
        let lock: FileLock
        do throws(LockFailure) {
            lock = try await FileLock.waiting(
                asynchronously: file.location,
                timeout: timeout,
                turn: turn
            ) { reporter.sendWaiting(for: version) }
        } catch {
            throw .lock(error, file.location, version)
        }
        try lock.keep(if: isWanted)
        return try LockedState(lock, file, reporter)
    }

    /// Takes the lock if it is free, or waits on this thread while `isAwaited`; `nil` where neither gives it.
    @inline(never)
    static func take(
        ifFree file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        orWhile isAwaited: () -> Bool
    ) throws(MigrationError) -> LockedState? {
        var lock: FileLock?
        do throws(LockFailure) {
            lock = try FileLock.ifFree(file.location)
            if lock == nil, isAwaited() {
                lock = try FileLock.waiting(file.location, timeout: timeout, while: isAwaited) {
                    reporter.sendWaiting(for: nil)
                }
            }
        } catch {
            throw .lock(error, file.location)
        }
        guard let lock else { return nil }
        return try LockedState(lock, file, reporter)
    }
}

extension FileLock {
    fileprivate func keep(if isWanted: () throws(MigrationError) -> Void) throws(MigrationError) {
        do throws(MigrationError) {
            try isWanted()
        } catch {
            unlock()
            throw error
        }
    }
}

extension Reporter {
    /// The wait itself marks the handler's thread, with the lock's file that it waits for.
    fileprivate func sendWaiting(for version: AppVersion?) {
        onEvent?(MigrationEvent(.waiting, location.name, version: version))
    }
}
