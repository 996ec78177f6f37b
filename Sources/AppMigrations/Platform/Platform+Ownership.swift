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

    /// Why somebody else may change what stands at `path`, as the end of a sentence; `nil` where nobody else may, or where
    /// nothing stands.
    ///
    /// The group of a user's own, which has the user's number, is that user alone (pam_umask(8), `usergroups`). In a sticky
    /// folder each user changes only files of their own (chmod(2)).
    static func foreignWriter(of path: String) throws(SystemCallError) -> String? {
        var status = stat()
        do throws(SystemCallError) {
            _ = try retrying("lstat") { lstat(path, &status) }
        } catch {
            if error.errorNumber == ENOENT { return nil }
            throw error
        }
        let user = geteuid()
        if status.st_uid != user, status.st_uid != 0 { return "belongs to user \(status.st_uid)" }
        // A link's mode says nothing.
        let kind = status.st_mode & S_IFMT
        if kind == S_IFLNK || (kind == S_IFDIR && status.st_mode & 0o1000 != 0) { return nil }
        if status.st_mode & 0o002 != 0 { return "can be written to by every user" }
        let isOwnGroup = status.st_gid == status.st_uid
        if status.st_mode & 0o020 != 0, !isOwnGroup { return "can be written to by group \(status.st_gid)" }
        return nil
    }
}
