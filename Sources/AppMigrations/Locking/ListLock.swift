/// The lock on a snapshot's list: a `flock` from before the list is in its place until the closure has ended.
///
/// The state's lock doesn't say that a closure runs, since a process that puts files back holds the same lock. Where the file of
/// the state's lock was removed while a closure runs, the list's still keeps other processes away. Nobody else ever takes it
/// exclusively, so a process that only looks is never mistaken for the closure's.
struct ListLock {
    private let descriptor: Int32

    /// Writes a list under another name, locks it, and renames it into place.
    init(making path: String, _ text: [UInt8]) throws(SystemCallError) {
        let new = path + ".new"
        descriptor = try Platform.createExclusively(new)
        do throws(SystemCallError) {
            try Platform.writeAll(descriptor, text)
            try Platform.synchronize(descriptor)
            guard try Platform.tryLock(descriptor) else { throw Platform.wouldBlock }
            try Platform.replace(path, with: new)
        } catch {
            Platform.closeAfterReading(descriptor)
            throw error.at(path)
        }
    }

    /// Gives the lock back, which a child made past the C library's `fork` shares: closing isn't enough.
    func end() { Platform.unlock(descriptor) }

    /// Whether a process has the lock of the list in the snapshot `folder`; `false` where there is no list.
    static func isTaken(in folder: String) throws(SystemCallError) -> Bool {
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try Platform.openEntry(folder + "/list")
        } catch {
            if error.isAbsent { return false }
            throw error.at(folder)
        }
        defer { Platform.unlock(descriptor) }
        return try !Platform.tryLock(descriptor, sharing: true)
    }
}
