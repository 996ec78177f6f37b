internal import AppMigrations
internal import AppMigrationsSQLite

/// A lock for the files next to a store.
///
/// Only its holder creates, uses and removes them.
///
/// The store's own lock is not enough. It must be released for a moment before the copy is written into the
/// store. At that moment, no other process may remove the copy as a left-over.
extension StoreFiles {
    /// Runs `body` with the lock, and removes the files that it left next to the store in every case.
    ///
    /// `done` returns a sentence about the work of `body`, for the error if only the removal fails; `nil` if
    /// `body` did nothing.
    ///
    /// - Throws: `SQLError.Code.busy` if another process has the lock for longer than `wait`, and
    ///   `SQLError.Code.cancelled`.
    func holdingLock<Value>(
        wait: Duration,
        done: (Value) -> String?,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        let file = try waitForLock(wait)
        defer { Platform.unlock(file) }
        let result = Result { () throws(SQLError) in
            try removeLeftovers()
            return try body()
        }
        do throws(SQLError) { try removeLeftovers(andLock: true) } catch {
            switch result {
            case .success(let value): throw done(value).map(error.following) ?? error
            case .failure(let first): throw first.adding(error, of: "cleaning up")
            }
        }
        return try result.get()
    }

    private func waitForLock(_ wait: Duration) throws(SQLError) -> Int32 {
        let deadline = ContinuousClock.now + wait
        var delay = Duration.milliseconds(1)
        while true {
            if let file = try takeLock() { return file }
            if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero {
                throw error(.busy, "Another process is migrating this store or setting it aside")
            }
            Platform.pause(min(delay, left))
            delay = min(delay * 2, .milliseconds(50))
        }
    }

    /// The lock's open file; `nil` if another process has the lock.
    private func takeLock() throws(SQLError) -> Int32? {
        try SQLError.ofFile(lock, "The lock beside the store could not be taken") { path in
            let file = try Platform.openLock(path)
            var isTaken = false
            defer { if !isTaken { Platform.unlock(file) } }
            isTaken = try Self.lock(file, openedAt: path)
            return isTaken ? file : nil
        }
    }

    /// Locks an open file; false if another process has locked it, or if the path leads to another file by
    /// now.
    ///
    /// Each holder removes the file, and the next one creates a new one. So a lock on a file that was removed
    /// protects nothing.
    static func lock(_ file: Int32, openedAt path: String) throws(SystemCallError) -> Bool {
        guard try Platform.tryLock(file) else { return false }
        return try Platform.status(path)?.identity == FileStatus(ofOpen: file).identity
    }
}

extension SQLError {
    /// This error, as one that was thrown after the work was done.
    func following(_ done: String) -> SQLError {
        with {
            $0.code = .cleanupFailed
            $0.message = "\(done). Only this failed afterwards: \(message)"
        }
    }
}
