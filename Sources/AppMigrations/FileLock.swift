/// The lock of one state: `flock` on a file of its own, because a save replaces the state file.
///
/// The kernel gives it back when its process dies, so a killed holder blocks nobody. Two holders in one process
/// exclude each other too, since each has opened the file for itself.
final class FileLock: Sendable {
    let identity: FileIdentity
    private let descriptor: Int32

    private static let held = Guarded<[FileIdentity: Bool]>([:])

    private init(descriptor: Int32, identity: FileIdentity) {
        self.descriptor = descriptor
        self.identity = identity
    }

    /// Opens the lock's file without taking the lock, making its directory where there is none.
    static func open(_ location: StateLocation) throws(MigrationError) -> FileLock {
        do throws(SystemCallError) {
            let descriptor = try openFile(location)
            do throws(SystemCallError) {
                let status = try FileStatus(descriptor)
                if status.kind == .file { return FileLock(descriptor: descriptor, identity: status.identity) }
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
            Platform.closeAfterReading(descriptor)
        } catch {
            throw .lockUnavailable(error, location)
        }
        throw .lockUnavailable(nil, location)
    }

    private static func openFile(_ location: StateLocation) throws(SystemCallError) -> Int32 {
        do throws(SystemCallError) {
            return try Platform.openLock(location.lock)
        } catch {
            if error.errorNumber != Platform.noEntry { throw error }
        }
        try Platform.makeDirectories(location.directory)
        return try Platform.openLock(location.lock)
    }

    enum Attempt { case taken, held, fileRemoved }

    /// Takes the lock if it is free.
    ///
    /// `isAsynchronous` tells a waiter of this process that its thread may be the one that the holder needs.
    func tryLock(_ location: StateLocation, isAsynchronous: Bool) throws(MigrationError) -> Attempt {
        do throws(SystemCallError) {
            guard try Platform.tryLock(descriptor) else { return .held }
            // A folder that was removed while this process waited takes its lock along: it guards nothing now.
            if try FileStatus(descriptor).links == 0 { return .fileRemoved }
            Platform.sign(descriptor)
        } catch {
            throw .lockUnavailable(error, location)
        }
        Self.held.withLock { $0[identity] = isAsynchronous }
        return .taken
    }

    /// Whether an asynchronous closure of this process has the lock.
    var isHeldAsynchronouslyHere: Bool { Self.held.withLock { $0[identity] == true } }

    func unlock() {
        Self.held.withLock { $0[identity] = nil }
        Platform.unlock(descriptor)
    }

    /// Closes the file of a lock that was not taken.
    func abandon() { Platform.closeAfterReading(descriptor) }

    /// The process that has the lock, as far as it can be told.
    func holder() throws(SystemCallError) -> Int32? {
        if Self.held.withLock({ $0[identity] != nil }) { return Platform.process }
        return try Platform.signer(descriptor)
    }
}
