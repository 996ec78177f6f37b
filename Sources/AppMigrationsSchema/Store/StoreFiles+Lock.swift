internal import AppMigrations
internal import AppMigrationsSQLite

/// A lock for the files next to a store.
///
/// Only its holder creates, uses and removes them.
///
/// The store's own lock is not enough. It must be released for a moment before the copy is written into the
/// store. At that moment, no other process may remove the copy as a leftover.
extension StoreFiles {
    /// Takes the lock, runs `body`, and always removes the temporary files and the lock file afterwards.
    ///
    /// Temporary files of a crashed process are also removed before `body` runs. `success` returns a sentence
    /// about the work that `body` has done, such as "The store was replaced", or `nil` if `body` did nothing.
    /// If only the removal at the end fails, the error contains that sentence.
    ///
    /// - Throws: `SQLError.Code.busy` if another process has the lock for longer than `wait`, and
    ///   `SQLError.Code.cancelled`.
    func holdingLock<Value>(
        wait: Duration,
        success: (Value) -> String?,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        let file = try waitForLock(wait)
        defer { Platform.unlock(file) }
        let result = Result { () throws(SQLError) in
            try removeLeftovers()
            return try body()
        }
        do throws(SQLError) { try removeLeftovers(includingLock: true) } catch {
            switch result {
            case .success(let value):
                if let done = success(value) { throw error.afterSuccess(done) }
                throw error
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
                throw error(.busy, "Another process is migrating, recovering or setting aside this store")
            }
            Platform.pause(min(delay, left))
            delay = min(delay * 2, .milliseconds(50))
        }
    }

    /// The lock's open file; `nil` if another process has the lock.
    private func takeLock() throws(SQLError) -> Int32? {
        try SQLError.ofFile(lock, "The lock file next to the store could not be locked") { path in
            let file = try Platform.openLock(path)
            var isTaken = false
            defer { if !isTaken { Platform.unlock(file) } }
            isTaken = try Self.lock(file, openedAt: path)
            return isTaken ? file : nil
        }
    }

    /// Locks an open file.
    ///
    /// - Returns: False if another process has locked the file, or if its path now leads to another file.
    ///
    /// Each holder deletes the lock file at the end, and the next one creates a new file. So a lock on a
    /// deleted file protects nothing.
    static func lock(_ file: Int32, openedAt path: String) throws(SystemCallError) -> Bool {
        guard try Platform.tryLock(file) else { return false }
        return try Platform.status(path)?.identity == FileStatus(ofOpen: file).identity
    }
}

extension SQLError {
    /// A `cleanupFailed` error for this error, which says that the work itself was done.
    func afterSuccess(_ done: String) -> SQLError {
        with {
            $0.code = .cleanupFailed
            $0.message = "\(done). Only this failed afterwards: \(message)"
        }
    }
}
