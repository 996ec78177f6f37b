/// Says that the closure which a snapshot was taken for is running: a `flock` on the snapshot's folder, from before the
/// intent that lists it is saved until the closure has ended.
///
/// The state's lock doesn't say this, since a process that puts files back holds the same lock. A start must wait where the
/// state lists a snapshot that no process claims: the files are being put back, and what the app wrote to them now would be
/// lost. Where the lock's file was removed while a closure runs, the claim still keeps other processes away.
struct SnapshotClaim {
    /// How often to try a lock again that another process has for a moment only.
    static var patience: Int { 200 }

    private let folder: LockDescriptor

    /// Claims a snapshot that this process has made.
    init(_ location: StateLocation) throws(SystemCallError) {
        (folder, _) = try LockDescriptor.opening { () throws(SystemCallError) in
            try Platform.openDirectory(location.snapshot)
        }
        do throws(SystemCallError) {
            // Another process may hold the folder's lock for a moment, to see whether the snapshot is claimed. To give up
            // then would leave the closure unclaimed: a start would take it for a restore and wait for it, perhaps on the
            // thread that the closure needs to finish.
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
    /// Processes that only look share the lock, so that none of them is mistaken for the process that runs the closure.
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
