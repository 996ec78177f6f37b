/// Why a lock could not be had.
///
/// The room that asked for the lock adds for which manager and migration.
indirect enum LockFailure: Error {
    /// The caller stands inside of a closure or plan of the same state, and would wait for itself.
    case nested
    case cancelled
    /// `holder` is the process that has the lock, as far as it can be told.
    case timedOut(Duration, holder: Int32?, SystemCallError?)
    /// Without an error the lock's file is no regular file.
    case unavailable(SystemCallError?)
    /// Whether a closure is running under the lock that was here before can't be told.
    case claimUnknown(SystemCallError)
    /// Whether a process has the lock can't be told by a process that takes none.
    case holderUnknown(SystemCallError)
    /// Whether the caller stands inside of a closure of the same state can't be told.
    case unreadable(SystemCallError)
}
