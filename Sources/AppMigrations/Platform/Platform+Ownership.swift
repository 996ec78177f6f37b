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

    /// Gives a new file the owner and the group of the file at `path` that it is to replace, and what the group may.
    ///
    /// A save by root would lock the user out whose file it was; only root can give a file away. A save by one user of a group
    /// would lock the others out to whom the file was opened. Where the system doesn't let this process, the file stays as it
    /// is: to have it matters more than whose it is.
    static func keepRights(_ new: Int32, of path: String) throws(SystemCallError) {
        guard let old = try status(path), old.kind == .file else { return }
        let rights = old.permissions & 0o060
        if geteuid() != 0, rights == 0 { return }
        var made = try FileStatus(new)
        if geteuid() == 0, (made.owner, made.group) != (old.owner, old.group) {
            try give(new, to: old)
            made = try FileStatus(new)
        }
        // In a folder without the set-group-ID bit the new file has another group, which was not let in.
        if rights == 0 || made.group != old.group { return }
        try setting { () throws(SystemCallError) in
            _ = try retrying("fchmod") { fchmod(new, mode_t(0o600 | rights)) }
        }
    }

    /// Opens the file of a lock, and makes it where there is none, for the user whose state stands beside it.
    ///
    /// Where there is no state, the folder's owner is that user. Root gives away only a file that this call has made: what stood
    /// at the path before could be anybody's.
    static func openLock(_ path: String, beside state: String, in folder: String) throws(SystemCallError)
        -> Int32
    {
        if geteuid() != 0 { return try openLock(path) }
        while true {
            do throws(SystemCallError) {
                return try openLock(path, making: 0)
            } catch {
                if error.errorNumber != ENOENT { throw error }
            }
            do throws(SystemCallError) {
                let made = try openLock(path, making: O_CREAT | O_EXCL)
                do throws(SystemCallError) {
                    var model = try status(state)
                    if model?.kind != .file { model = try FileStatus(following: folder) }
                    if let model, model.owner != 0 { try give(made, to: model) }
                    return made
                } catch {
                    closeAfterReading(made)
                    throw error
                }
            } catch {
                // Another process has made it meanwhile.
                if error.errorNumber != EEXIST { throw error }
            }
        }
    }

    private static func give(_ file: Int32, to model: FileStatus) throws(SystemCallError) {
        try setting { () throws(SystemCallError) in
            _ = try retrying("fchown") { fchown(file, model.owner, model.group) }
        }
    }

    /// Whose the file is that this user may not read, and what to do; `nil` where its permissions are not the reason.
    ///
    /// On Apple's systems a locked device and a sandbox forbid files too, whatever their permissions are.
    static func whoMayRead(_ path: String) -> String? {
        #if canImport(Darwin)
        return nil
        #else
        let user = geteuid()
        let end = "start as the user whose it is, or give this one the files and their folder (chown)."
        let file: FileStatus
        do throws(SystemCallError) {
            file = try FileStatus(ofEntry: path)
        } catch {
            if error.errorNumber != EACCES { return nil }
            return
                "This process runs as user \(user), who may not look into the folder: \(end)"
        }
        if file.owner == user, file.permissions & 0o400 == 0 {
            return "The file belongs to this user, without the right to read it: give it back (chmod u+rw)."
        }
        if file.owner == user || file.permissions & 0o004 != 0 { return nil }
        let readers =
            file.permissions & 0o040 == 0
            ? "who alone may read it" : "who may read it as group \(file.group) may"
        return
            "The file belongs to user \(file.owner), \(readers), and this process runs as user \(user): \(end)"
        #endif
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

    /// Makes a call whose refusal by the file system, or for want of rights, is no error.
    private static func setting(_ body: () throws(SystemCallError) -> Void) throws(SystemCallError) {
        do throws(SystemCallError) {
            try body()
        } catch {
            if ![EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL].contains(error.errorNumber) { throw error }
        }
    }

    static func isOtherFileSystem(_ error: SystemCallError) -> Bool { error.errorNumber == EXDEV }

    /// Whether a folder can't be moved, though what is in it may be (rename(2)).
    static func keepsFolder(_ error: SystemCallError) -> Bool {
        [EXDEV, EBUSY, EPERM, EACCES].contains(error.errorNumber)
    }
}
