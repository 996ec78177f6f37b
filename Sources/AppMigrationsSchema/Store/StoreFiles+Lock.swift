internal import AppMigrations
internal import AppMigrationsSQLite

/// The right to make, use and remove the files beside a store, for one process or thread at a time.
///
/// The store's own lock is not enough. It has to be given back for a moment before the copy is written into the store, and
/// no other process may take the copy for a left-over then.
extension StoreFiles {
    /// Runs `body` with the lock, and removes in every case what it left beside the store.
    ///
    /// `done` says what `body` did that an error of the removing must not be taken to deny, `nil` where that is nothing.
    ///
    /// - Throws: `SQLError.Code.busy` when another process had the lock for longer than `wait`, and
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

    /// The lock's open file, or `nil` when another process has it.
    private func takeLock() throws(SQLError) -> Int32? {
        try SQLError.ofFile(lock, "The lock beside the store could not be taken") { path in
            let file = try Platform.openLock(path)
            var isTaken = false
            defer { if !isTaken { Platform.unlock(file) } }
            isTaken = try Self.lock(file, openedAt: path)
            return isTaken ? file : nil
        }
    }

    /// Locks an open file; false if another process has locked it, or if the path leads to another file by now.
    ///
    /// Each holder removes the file, and the next one makes a new one. A lock on a file without a name guards nothing.
    static func lock(_ file: Int32, openedAt path: String) throws(SystemCallError) -> Bool {
        guard try Platform.tryLock(file) else { return false }
        return try Platform.status(path)?.identity == FileStatus(ofOpen: file).identity
    }
}

extension SQLError {
    /// This error, as one that came after all the work was done.
    func following(_ done: String) -> SQLError {
        with {
            $0.code = .cleanupFailed
            $0.message = "\(done). Only this failed afterwards: \(message)"
        }
    }
}
