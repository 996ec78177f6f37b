/// The ways to take the lock: each adds to what goes wrong for which manager and migration it was.
extension LockedState {
    /// Waits for the lock on this thread.
    @inline(never)
    static func take(
        _ file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion? = nil,
        recovering: Bool = true
    ) throws(MigrationError) -> LockedState {
        let lock: FileLock
        do throws(LockFailure) {
            lock = try FileLock.waiting(file.location, timeout: timeout) {
                reporter.sendWaiting(for: version)
            }
        } catch {
            throw .lock(error, file.location, version)
        }
        return try LockedState(lock, file, reporter, recovering: recovering)
    }

    /// The same, suspending the task instead of the thread.
    nonisolated(nonsending) static func take(
        asynchronously file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion
    ) async throws(MigrationError) -> LockedState {
        let lock: FileLock
        do throws(LockFailure) {
            lock = try await FileLock.waiting(asynchronously: file.location, timeout: timeout) {
                reporter.sendWaiting(for: version)
            }
        } catch {
            throw .lock(error, file.location, version)
        }
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

extension Reporter {
    /// The wait itself marks the handler's thread, with the lock's file that it waits for.
    fileprivate func sendWaiting(for version: AppVersion?) {
        onEvent?(MigrationEvent(.waiting, location.name, version: version))
    }
}
