internal import AppMigrations
internal import AppMigrationsSQLite

/// The right to make, use and remove the files beside a store, for one process or thread at a time.
///
/// The store's own lock is not enough. It has to be given back for a moment before the copy is written into the store, and
/// no other process may take the copy for a left-over then.
struct StagingLock: ~Copyable {
    private let file: Int32
    private let path: String

    /// Waits for the lock.
    ///
    /// - Throws: `SQLError.Code.busy` when another process had it for longer than `wait`, and
    ///   `SQLError.Code.cancelled`.
    init(_ files: StoreFiles, wait: Duration) throws(SQLError) {
        path = files.lock
        let deadline = ContinuousClock.now + wait
        var delay = Duration.milliseconds(1)
        while true {
            if let file = try Self.take(files.lock) {
                self.file = file
                return
            }
            if Task<Never, Never>.isCancelled { throw SQLError.taskCancelled }
            let left = ContinuousClock.now.duration(to: deadline)
            if left <= .zero {
                throw SQLError(.busy, "Another process is migrating this store or setting it aside").with {
                    $0.path = files.store
                }
            }
            Platform.pause(min(delay, left))
            delay = min(delay * 2, .milliseconds(50))
        }
    }

    /// The lock's open file, or `nil` when another process has it.
    private static func take(_ path: String) throws(SQLError) -> Int32? {
        try SQLError.ofFile(path, "The lock beside the store could not be taken") { path in
            let file = try Platform.openLock(path)
            do throws(SystemCallError) {
                // The last holder removed the file, and the next one makes another.
                if try Platform.tryLock(file),
                    try Platform.status(path)?.identity == FileStatus(file).identity
                {
                    return file
                }
            } catch {
                Platform.unlock(file)
                throw error
            }
            Platform.unlock(file)
            return nil
        }
    }

    /// Removes the lock's file and gives the lock back.
    consuming func release() throws(SQLError) {
        defer { Platform.unlock(file) }
        try SQLError.ofFile(path, "The lock beside the store could not be removed") {
            try Platform.removeIfThere($0)
        }
    }

    /// Runs `body` with the lock, and removes in every case what it left beside the store.
    ///
    /// `done` says what `body` did that an error of the removing must not be taken to deny, `nil` where that is nothing.
    static func holding<Value>(
        _ files: StoreFiles,
        wait: Duration,
        done: (Value) -> String?,
        _ body: () throws(SQLError) -> Value
    ) throws(SQLError) -> Value {
        let lock = try StagingLock(files, wait: wait)
        let result: Result<Value, SQLError>
        do throws(SQLError) {
            try files.removeLeftovers()
            result = .success(try body())
        } catch { result = .failure(error) }
        var failure: SQLError?
        do throws(SQLError) { try files.removeLeftovers() } catch { failure = error }
        do throws(SQLError) { try lock.release() } catch {
            failure = failure?.adding(error, of: "giving back the lock") ?? error
        }
        switch (result, failure) {
        case (.success(let value), let failure?): throw done(value).map(failure.following) ?? failure
        case (.failure(let error), let failure?): throw error.adding(failure, of: "cleaning up")
        default: return try result.get()
        }
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
