/// A state that was read, and whether a process is running its latest attempt.
typealias FoundState = (state: MigrationState?, isUnderWay: Result<Bool, SystemCallError>)

extension MigrationManager {
    /// The status of this manager, read from the state file now.
    ///
    /// Each use of this property reads the file again and changes nothing. It works even if the manager is
    /// closed, inside a closure, and after a newer app has used the data. If there is no state, the status
    /// says so.
    ///
    /// The status also says whether a migration is running or its process has crashed. To find that out, this
    /// property takes the lock for a moment if the lock is free. During that moment, no other process can
    /// take the lock.
    ///
    /// - Throws: ``MigrationError`` with the code `stateUnreadable`, `stateCorrupted` or
    ///   `stateFromNewerFormat`.
    public var status: MigrationStatus {
        get throws(MigrationError) {
            let (state, lock) = try readStateAndLock()
            var isUnderWay: Bool?
            if case .success(let isLocked) = lock { isUnderWay = isLocked }
            return try MigrationStatus(
                state,
                of: location,
                appVersion: currentVersion,
                isUnderWay: isUnderWay
            )
        }
    }

    /// Reads the state, and finds out whether a process is running its latest attempt.
    ///
    /// `isUnderWay` is an error if the lock can't be examined.
    func readStateAndLock() throws(MigrationError) -> FoundState {
        var state = try file.readState()
        while let latest = state?.versions.latestAttempt, latest.failure == nil {
            // This process has the lock itself, so nobody is running the attempt.
            if try RunToken.isInWithLock(location) { break }
            do throws(SystemCallError) {
                if try Platform.isLocked(location.lock) { return (state, .success(true)) }
            } catch {
                return (state, .failure(error))
            }
            // The lock is free. Either the process has crashed, or it recorded its migration after this loop
            // had read the state. Read again: if the state hasn't changed, the process has crashed.
            let again = try file.readState()
            if again == state { break }
            state = again
        }
        return (state, .success(false))
    }
}
