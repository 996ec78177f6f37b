import AppMigrationsSystem

/// A system call that failed: the call, the path for which it was made, and the error number.
///
/// It is the ``MigrationError/underlyingError`` of errors that concern files.
public final class SystemCallError: Error, Sendable, CustomStringConvertible {
    /// The call's name, for instance `open`.
    public let call: String

    /// The value of `errno` after the call.
    public let errorNumber: Int32

    /// The path of the file or folder for which the call was made, if it is known.
    public let path: String?

    package init(call: String, errorNumber: Int32, path: String? = nil) {
        self.call = call
        self.errorNumber = errorNumber
        self.path = path
    }

    /// The path, the system's text for the error, the call and the number.
    public var description: String {
        let place = path.map { $0 + ": " } ?? ""
        return place + "\(String(cString: strerror(errorNumber))) (\(call), errno \(errorNumber))"
    }
}

extension SystemCallError {
    /// True if the file or folder doesn't exist.
    var isMissingFile: Bool { Platform.missingFile.contains(errorNumber) }

    /// True if the call may have failed because the device is locked.
    package var isOfLockedDevice: Bool { Platform.lockedDevice.contains(errorNumber) }

    /// True if the disk is full, or the user's quota is used up.
    var isOfFullDisk: Bool { Platform.fullDisk.contains(errorNumber) }

    /// True for `EPERM`: the file is immutable, or only a privileged user may make the call.
    var isNotPermitted: Bool { errorNumber == EPERM }

    /// True if a rename would lead to another file system, or to another layer of an overlay.
    var isOfOtherFileSystem: Bool { errorNumber == EXDEV }

    /// True if a name or a path is longer than the system allows.
    var isOfLongName: Bool { errorNumber == ENAMETOOLONG }

    /// Returns this error with the path `place`, unless it has a path already.
    func at(_ place: String) -> SystemCallError {
        SystemCallError(call: call, errorNumber: errorNumber, path: path ?? place)
    }
}

/// Errors that this library detects itself, with the `errno` values that fit best.
extension SystemCallError {
    /// The error for an item that can't be copied: it isn't a regular file, or its name isn't UTF-8.
    static func unsupported(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: ENOTSUP, path: path)
    }

    /// The error for a folder that may not be trusted, for example because it belongs to another user.
    static func foreign(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: EPERM, path: path)
    }

    /// The error for a file of which another number of bytes was read than it has.
    static func incomplete(_ path: String) -> SystemCallError {
        SystemCallError(call: "read", errorNumber: EIO, path: path)
    }

    /// The error for something that is mounted inside a tree.
    static func mounted(_ path: String) -> SystemCallError {
        SystemCallError(call: "rename", errorNumber: EXDEV, path: path)
    }
}
