/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// The kernel gives it back when its process dies, so a killed process keeps no other one waiting. Two callers in one
/// process exclude each other too, since each has opened the file for itself.
final class FileLock: Sendable {
    /// The process that opened the file; a child made by `fork` doesn't have the lock.
    let process = Platform.process
    private let file: LockDescriptor

    var identity: FileIdentity { file.identity }

    private init(_ file: LockDescriptor) { self.file = file }

    /// Opens the lock's file without taking the lock, making its directory where there is none.
    @inline(never)
    static func open(_ location: StateLocation) throws(LockFailure) -> FileLock {
        do throws(SystemCallError) {
            let (file, kind) = try openFile(location)
            if kind == .file { return FileLock(file) }
            file.close()
        } catch {
            throw .unavailable(error)
        }
        throw .unavailable(nil)
    }

    private static func openFile(
        _ location: StateLocation
    ) throws(SystemCallError) -> (LockDescriptor, FileStatus.Kind) {
        let open = { () throws(SystemCallError) in
            try Platform.openLock(location.lock, in: location.directory)
        }
        do throws(SystemCallError) {
            return try LockDescriptor.opening(open)
        } catch {
            if error.errorNumber != Platform.noEntry { throw error }
        }
        try Platform.makeDirectories(location.directory)
        return try LockDescriptor.opening(open)
    }

    enum Attempt {
        case taken
        case held
        /// No process has the lock, and a closure runs under a lock that was at this path before.
        case claimed
        /// What was opened is not the lock any more.
        case lost
    }

    /// Takes the lock if it is free.
    ///
    /// `isAsynchronous` tells other callers in this process that their thread may be the one that the closure needs. With
    /// `isClaimant` the claim on the snapshot is the caller's own, and doesn't keep it from the lock.
    func tryLock(
        _ location: StateLocation,
        isAsynchronous: Bool,
        isClaimant: Bool = false
    ) throws(LockFailure) -> Attempt {
        do throws(SystemCallError) {
            guard try file.isOurs() else { return .lost }
            guard try Platform.tryLock(file.number) else { return .held }
            // A lock whose file was removed or replaced while this process waited guards nothing.
            guard try isAtPath(location) else { return .lost }
        } catch {
            throw .unavailable(error)
        }
        do throws(SystemCallError) {
            let isClaimed = isClaimant ? false : try ListLock.isTaken(in: location.snapshotInUse())
            if isClaimed {
                Platform.release(file.number)
                return .claimed
            }
        } catch {
            throw .claimUnknown(error)
        }
        Platform.sign(file.number)
        file.note(isAsynchronous ? .heldAsynchronously : .held)
        return .taken
    }

    /// Whether other processes find at the path the same file that this process has locked.
    func stands(at location: StateLocation) throws(SystemCallError) -> Bool {
        guard try file.isOurs() else { return false }
        return try isAtPath(location)
    }

    private func isAtPath(_ location: StateLocation) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            return try FileStatus(ofEntry: location.lock).identity == identity
        } catch {
            if error.errorNumber == Platform.noEntry || error.errorNumber == Platform.notADirectory {
                return false
            }
            throw error
        }
    }

    /// Whether an asynchronous closure of this process has the lock.
    var isHeldAsynchronouslyHere: Bool { LockDescriptor.use(of: identity) == .heldAsynchronously }

    /// Syncs all of the file system that the lock is on to disk; `false` where that can't be relied on.
    ///
    /// It tells of what could not be written since the lock's file was opened. Where that file is closed by now, nothing can be
    /// told of before.
    func flushFileSystem() throws(SystemCallError) -> Bool {
        try file.isOurs() ? Platform.flushFileSystem(of: file.number) : false
    }

    /// Gives the lock back, if it was taken, and closes its file.
    @inline(never)
    func unlock() { file.close() }

    /// The process that has the lock, as far as it can be told.
    func holder() throws(SystemCallError) -> Int32? {
        if LockDescriptor.use(of: identity) != nil { return Platform.process }
        return try Platform.signer(file.number)
    }
}
