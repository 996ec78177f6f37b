/// The ways to take the lock.
extension LockedState {
    /// Waits for the lock on this thread.
    static func take(
        _ file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion? = nil,
        recovering: Bool = true
    ) throws(MigrationError) -> LockedState {
        var wait = try LockWait(file.location, version, timeout: timeout, .synchronous)
        while true {
            if let lock = try wait.step({ reporter.sendWaiting(for: version) }) {
                return try LockedState(lock, file, reporter, recovering: recovering)
            }
            Platform.pause(wait.pause)
        }
    }

    /// Waits for the lock, suspending the task instead of the thread.
    nonisolated(nonsending) static func take(
        asynchronously file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        for version: AppVersion
    ) async throws(MigrationError) -> LockedState {
        var wait = try LockWait(file.location, version, timeout: timeout, .asynchronous)
        while true {
            if let lock = try wait.step({ reporter.sendWaiting(for: version) }) {
                return try LockedState(lock, file, reporter)
            }
            do {
                try await Task.sleep(nanoseconds: Platform.nanoseconds(wait.pause))
            } catch {
                throw wait.cancelled()
            }
        }
    }

    /// Takes the lock if it is free, or waits on this thread while `isAwaited`; `nil` where neither gives it.
    static func take(
        ifFree file: StateFile,
        _ reporter: Reporter,
        timeout: Duration?,
        orWhile isAwaited: () throws(MigrationError) -> Bool
    ) throws(MigrationError) -> LockedState? {
        if let lock = try FileLock.ifFree(file.location) { return try LockedState(lock, file, reporter) }
        if try !isAwaited() { return nil }
        var wait = try LockWait(file.location, nil, timeout: timeout, .start)
        repeat {
            if let lock = try wait.step({ reporter.sendWaiting(for: nil) }) {
                return try LockedState(lock, file, reporter)
            }
            Platform.pause(wait.pause)
        } while try isAwaited()
        return nil
    }
}

extension Reporter {
    /// The wait itself marks the handler's thread, with the lock's file that it waits for.
    fileprivate func sendWaiting(for version: AppVersion?) {
        onEvent?(MigrationEvent(.waiting, location.name, version: version))
    }
}
