/// Says that the closure a snapshot was taken for is running: a `flock` on the snapshot's folder, from before the intent
/// that lists it is saved until the closure has ended.
///
/// The state's lock doesn't say it, since a process that puts files back holds that one too. A start that meets a list
/// whose snapshot nobody claims must wait: what the app wrote to those files now would be put back to what it was. And
/// where the lock's file was removed while a closure runs, the claim is what still keeps others away.
struct SnapshotClaim {
    /// How often to look again at a lock that another process has for a moment only.
    static var patience: Int { 200 }

    private let folder: LockDescriptor

    /// Claims a snapshot that this process has made.
    init(_ location: StateLocation) throws(SystemCallError) {
        (folder, _) = try LockDescriptor.opening { () throws(SystemCallError) in
            try Platform.openDirectory(location.snapshot)
        }
        do throws(SystemCallError) {
            // A process that looks whether the snapshot is claimed has the lock for a moment. A start that waited for this
            // closure, since it isn't claimed, might wait on the thread that the closure is to go on on.
            var attempts = 0
            while try !Platform.tryLock(folder.number) {
                attempts += 1
                if attempts > Self.patience { throw Platform.wouldBlock }
                Platform.pause(.milliseconds(1))
            }
        } catch {
            folder.close()
            throw error
        }
    }

    func end() { folder.close() }

    /// Whether a process claims the snapshot.
    ///
    /// Processes that look share the lock, so that none takes another for the one that runs the closure.
    static func stands(_ location: StateLocation) throws(SystemCallError) -> Bool {
        let folder: LockDescriptor
        do throws(SystemCallError) {
            (folder, _) = try LockDescriptor.opening { () throws(SystemCallError) in
                try Platform.openDirectory(location.snapshot)
            }
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return false
            }
            throw error
        }
        defer { folder.close() }
        return try !Platform.tryLock(folder.number, sharing: true)
    }
}
