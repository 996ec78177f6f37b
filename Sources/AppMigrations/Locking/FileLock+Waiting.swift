extension FileLock {
    /// Waits for the lock on this thread.
    static func waiting(
        _ location: StateLocation,
        timeout: Duration?,
        onWait: () -> Void
    ) throws(LockFailure) -> FileLock {
        var wait = try LockWait(location, timeout: timeout, .synchronous)
        while true {
            switch try wait.step(onWait) {
            case .taken(let lock): return lock
            case .pause(let duration): Platform.pause(duration)
            }
        }
    }

    /// The same, suspending the task instead of the thread.
    nonisolated(nonsending) static func waiting(
        asynchronously location: StateLocation,
        timeout: Duration?,
        onWait: () -> Void
    ) async throws(LockFailure) -> FileLock {
        var wait = try LockWait(location, timeout: timeout, .asynchronous)
        while true {
            switch try wait.step(onWait) {
            case .taken(let lock): return lock
            case .pause(let duration):
                do {
                    try await Task.sleep(nanoseconds: Platform.nanoseconds(duration))
                } catch {
                    wait.abandon()
                    throw .cancelled
                }
            }
        }
    }

    /// Waits for the lock on this thread, for as long as it is needed: `nil` when it isn't needed any more.
    static func waiting(
        _ location: StateLocation,
        timeout: Duration?,
        while isNeeded: () -> Bool,
        onWait: () -> Void
    ) throws(LockFailure) -> FileLock? {
        var wait = try LockWait(location, timeout: timeout, .start)
        repeat {
            switch try wait.step(onWait) {
            case .taken(let lock): return lock
            case .pause(let duration): Platform.pause(duration)
            }
        } while isNeeded()
        wait.abandon()
        return nil
    }

    /// Takes the lock if it is free now, without waiting for a closure.
    ///
    /// A claim without a lock is looked at for a while: when a process dies, its descriptors are closed one after the
    /// other. A claimant waits a while for a lock that is held too, since other processes take the lock for a moment to look
    /// at the claim, or at the lock itself.
    static func ifFree(_ location: StateLocation, isClaimant: Bool = false) throws(LockFailure) -> FileLock? {
        for _ in 1...200 {
            let lock = try FileLock.open(location)
            let attempt: Attempt
            do throws(LockFailure) {
                attempt = try lock.tryLock(location, isAsynchronous: false, isClaimant: isClaimant)
            } catch {
                lock.unlock()
                throw error
            }
            if attempt == .taken { return lock }
            lock.unlock()
            if attempt == .held, !isClaimant { return nil }
            Platform.pause(.milliseconds(1))
        }
        return nil
    }

    /// Whether a process has the lock, as far as that can be told without taking any: the sign of a lock is asked for.
    ///
    /// A descriptor of the lock's file isn't opened where this process has the lock, since closing it would drop the sign.
    static func isSigned(_ location: StateLocation) throws(LockFailure) -> Bool {
        do throws(SystemCallError) {
            let identity = try FileStatus(ofEntry: location.lock).identity
            if LockDescriptor.use(of: identity) != nil { return true }
            let descriptor = try Platform.openToRead(location.lock)
            defer { Platform.closeAfterReading(descriptor) }
            return try Platform.isSigned(descriptor)
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return false
            }
            throw .holderUnknown(error)
        }
    }

    /// Whether a process has the lock; makes no file, and waits for no process.
    ///
    /// A shared lock is asked for, since NFS gives an exclusive lock only to a descriptor that may write (flock(2)).
    static func isTaken(_ location: StateLocation) throws(LockFailure) -> Bool {
        do throws(SystemCallError) {
            if LockDescriptor.use(of: try FileStatus(ofEntry: location.lock).identity) != nil { return true }
            let descriptor = try Platform.openToRead(location.lock)
            let isFree: Bool
            do throws(SystemCallError) {
                isFree = try Platform.tryLock(descriptor, sharing: true)
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
            if isFree { Platform.unlock(descriptor) } else { Platform.closeAfterReading(descriptor) }
            return !isFree
        } catch {
            if error.errorNumber == Platform.noEntry { return false }
            throw .unavailable(error)
        }
    }
}
