#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Who may change a file.
extension Platform {
    /// Whether a call failed for want of rights, or is one that a sandbox refuses.
    static func forbids(_ error: SystemCallError) -> Bool { [EACCES, EPERM].contains(error.errorNumber) }

    /// Gives what root has just made in another user's folder to that user, so that one accidental `sudo` shuts nobody out.
    ///
    /// What takes the place of the file at `old` keeps that file's owner. Where others may write to the folder, they could have led
    /// root there. Where the system has no owners, or doesn't let this process, the file stays as it is: to have it matters more.
    static func own(_ made: Int32, in folder: String, replacing old: String? = nil) throws(SystemCallError) {
        if geteuid() != 0 { return }
        var model = try FileStatus(following: folder)
        if model.permissions & 0o002 != 0 { return }
        if let old, let replaced = try status(old), replaced.kind == .file { model = replaced }
        if model.owner == 0 || fchown(made, model.owner, model.group) == 0 || isUnsupported(errno) { return }
        throw failure("fchown")
    }

    /// Opens the file of a lock in `folder`, and makes it where there is none.
    static func openLock(_ path: String, in folder: String) throws(SystemCallError) -> Int32 {
        if geteuid() != 0 { return try openLock(path) }
        let made: Int32
        do throws(SystemCallError) {
            made = try openLock(path, making: O_CREAT | O_EXCL)
        } catch {
            if error.errorNumber != EEXIST { throw error }
            // What stood there before could be anybody's, and stays whose it is.
            return try openLock(path, making: 0)
        }
        do throws(SystemCallError) {
            try own(made, in: folder)
            return made
        } catch {
            closeAfterReading(made)
            throw error
        }
    }

    /// Whether this user may write to what stands at `path`.
    static func mayWrite(_ path: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try retrying("access") { access(path, W_OK) }
            return true
        } catch {
            // access(2): EPERM for what is immutable too.
            if forbids(error) || error.errorNumber == EROFS { return false }
            throw error
        }
    }

    /// Whether it belongs to this user.
    static func isOwn(_ status: FileStatus) -> Bool { status.owner == geteuid() }

    /// The user whose a folder is, where this process is root's and the folder isn't; `nil` where nothing stands.
    static func owner(unlikeRoot folder: String) throws(SystemCallError) -> UInt32? {
        guard geteuid() == 0, let found = try status(folder) else { return nil }
        return found.owner == 0 ? nil : found.owner
    }

    /// Whether a file system refuses a call for want of what is asked for, or of rights.
    static func isUnsupported(_ number: Int32) -> Bool {
        [EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL].contains(number)
    }

    static func isOtherFileSystem(_ error: SystemCallError) -> Bool { error.errorNumber == EXDEV }

    /// Whether a folder can't be moved, though what is in it may be (rename(2)).
    static func keepsFolder(_ error: SystemCallError) -> Bool {
        [EXDEV, EBUSY, EPERM, EACCES].contains(error.errorNumber)
    }
}
