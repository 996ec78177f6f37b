#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CAppMigrationsLinux
import Glibc
#elseif canImport(Musl)
import CAppMigrationsLinux
import Musl
#elseif canImport(Android)
import Android
import CAppMigrationsLinux
#endif

/// Owner, group, access list, permissions and times, of open files: behind a name could be somebody else's file.
extension Platform {
    /// Gives an open copy what its open model has, and touches nothing that is right already.
    ///
    /// No right gets wider: as with `cp -p`, set-user-ID and set-group-ID go where the owner can't be kept, and the
    /// group's rights where the group or an access list can't. `strictly`: permissions that don't hold are an error.
    static func setAttributes(
        _ copy: Int32,
        as model: FileStatus,
        of source: Int32,
        strictly: Bool
    ) throws(SystemCallError) {
        var found = try FileStatus(copy)
        try setOwner(copy, as: model, &found)
        var permissions = model.permissions
        if found.owner != model.owner { permissions &= ~0o6000 }
        let isListKept = try setAccessLists(copy, of: source, isFolder: model.kind == .directory, &found)
        if found.group != model.group || !isListKept { permissions &= ~0o2070 }
        if found.permissions != permissions {
            do throws(SystemCallError) {
                _ = try retrying("fchmod") { fchmod(copy, mode_t(permissions)) }
            } catch {
                if strictly || !error.isUnsettable { throw error }
            }
            // A file system may take the call and keep its own permissions: what is put back would get those.
            if strictly, try FileStatus(copy).permissions & 0o777 != permissions & 0o777 {
                throw SystemCallError(call: "fchmod", errorNumber: ENOTSUP)
            }
        }
        if found.modified != model.modified {
            try setting { () throws(SystemCallError) in
                let times = timespecs(model)
                _ = try retrying("futimens") { futimens(copy, times) }
            }
        }
    }

    /// The same for a link itself, which has no rights.
    static func setAttributes(
        ofLink name: FileName,
        in folder: Int32,
        as model: FileStatus
    ) throws(SystemCallError) {
        let found = try FileStatus(name, in: folder)
        if (found.owner, found.group) != (model.owner, model.group) {
            try setting { () throws(SystemCallError) in
                _ = try retrying("fchownat") {
                    fchownat(folder, name, model.owner, model.group, AT_SYMLINK_NOFOLLOW)
                }
            }
        }
        if found.modified == model.modified { return }
        try setting { () throws(SystemCallError) in
            let times = timespecs(model)
            _ = try retrying("utimensat") { utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) }
        }
    }

    /// Lets the owner list and change an open folder; one that isn't this user's stays as it is, since what can't be
    /// changed in it says so itself.
    static func makeAccessible(_ folder: Int32, _ status: FileStatus) throws(SystemCallError) {
        if !isClosed(status) { return }
        try setting { () throws(SystemCallError) in
            _ = try retrying("fchmod") { fchmod(folder, mode_t(status.permissions | 0o700)) }
        }
    }

    /// Sets the permissions of a file or folder that may not be opened with those it has.
    static func setPermissions(
        _ name: FileName,
        in folder: Int32,
        _ permissions: UInt32
    ) throws(SystemCallError) {
        _ = try retrying("fchmodat") { fchmodat(folder, name, mode_t(permissions), AT_SYMLINK_NOFOLLOW) }
    }

    /// Whether a folder is this user's, and closed to this user all the same; root is closed out of none.
    static func isClosed(_ folder: FileStatus) -> Bool {
        folder.permissions & 0o700 != 0o700 && folder.owner == geteuid() && folder.owner != 0
    }

    /// Whether somebody else than root and this user put it there.
    static func isForeign(_ status: FileStatus) -> Bool { status.owner != 0 && status.owner != geteuid() }

    /// Whether root would give a file away that has other names: what another user linked to in the meantime may be
    /// anybody's.
    static func wouldGiveAway(_ found: FileStatus, to owner: FileStatus) -> Bool {
        geteuid() == 0 && found.links > 1 && found.owner != owner.owner
    }

    private static func setOwner(
        _ copy: Int32,
        as model: FileStatus,
        _ found: inout FileStatus
    ) throws(SystemCallError) {
        if (found.owner, found.group) == (model.owner, model.group) { return }
        if found.owner != model.owner || geteuid() == 0 {
            try setting { () throws(SystemCallError) in
                _ = try retrying("fchown") { fchown(copy, model.owner, model.group) }
            }
            // chown(2) may take set-user-ID and set-group-ID away.
            found = try FileStatus(copy)
        }
        // A copy whose group could not be kept has no rights for it: the file that stands there keeps its own.
        if found.group == model.group || model.permissions & 0o2070 == 0 { return }
        try setting { () throws(SystemCallError) in
            _ = try retrying("fchown") { fchown(copy, uid_t.max, model.group) }
        }
        found = try FileStatus(copy)
    }

    /// Makes a call whose refusal by the file system, or for want of rights, is no error.
    static func setting(_ body: () throws(SystemCallError) -> Void) throws(SystemCallError) {
        do throws(SystemCallError) {
            try body()
        } catch {
            if !error.isUnsettable { throw error }
        }
    }

    private static func timespecs(_ status: FileStatus) -> [timespec] {
        [status.accessed, status.modified].map { timespec(tv_sec: $0.seconds, tv_nsec: $0.nanoseconds) }
    }
}

/// Access lists: with one, the group's permissions of a file are its mask, and say nothing of the group (acl(5)).
extension Platform {
    /// Gives an open copy the access lists of its model; `false` where it can't have them.
    private static func setAccessLists(
        _ copy: Int32,
        of source: Int32,
        isFolder: Bool,
        _ found: inout FileStatus
    ) throws(SystemCallError) -> Bool {
        #if canImport(Darwin)
        // fcopyfile(3). On these systems a list adds to the permissions, and nothing has to be taken from them.
        if fcopyfile(source, copy, nil, copyfile_flags_t(COPYFILE_ACL)) == 0 { return true }
        let error = failure("fcopyfile")
        if error.isUnsettable { return true }
        throw error
        #else
        var isKept = try setAccessList("system.posix_acl_access", copy, of: source, &found)
        // New files in a folder get this one.
        if isFolder {
            isKept = try setAccessList("system.posix_acl_default", copy, of: source, &found) && isKept
        }
        return isKept
        #endif
    }

    #if !canImport(Darwin)
    private static func setAccessList(
        _ name: String,
        _ copy: Int32,
        of source: Int32,
        _ found: inout FileStatus
    ) throws(SystemCallError) -> Bool {
        let list = try accessList(name, source)
        if try list == accessList(name, copy) { return true }
        do throws(SystemCallError) {
            if list.isEmpty {
                _ = try retrying("fremovexattr") { fremovexattr(copy, name) }
            } else {
                _ = try retrying("fsetxattr") { fsetxattr(copy, name, list, UInt(list.count), 0) }
            }
            // A list has the permissions in it, and sets them.
            found = try FileStatus(copy)
            return true
        } catch {
            if error.isUnsettable { return false }
            throw error
        }
    }

    /// The bytes of an access list; none where there is none.
    private static func accessList(_ name: String, _ file: Int32) throws(SystemCallError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            do throws(SystemCallError) {
                let count = try retrying("fgetxattr") { fgetxattr(file, name, &bytes, UInt(bytes.count)) }
                if count <= bytes.count { return Array(bytes[..<count]) }
                bytes = Array(repeating: 0, count: count)
            } catch {
                // fgetxattr(2): ENODATA without a list, ENOTSUP without lists, ERANGE when it has grown.
                if error.errorNumber == ENODATA || error.isUnsettable { return [] }
                if error.errorNumber != ERANGE { throw error }
                bytes = []
            }
        }
    }
    #endif
}
