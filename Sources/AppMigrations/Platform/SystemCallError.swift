import AppMigrationsSystem

/// A call of the operating system that failed: which call, about which file, and its error number.
///
/// It is the ``MigrationError/underlyingError`` of errors that are about files.
public final class SystemCallError: Error, Sendable, CustomStringConvertible {
    /// The call's name, for instance `open`.
    public let call: String

    /// The error number that the call set, POSIX's `errno`.
    public let errorNumber: Int32

    /// The file or folder that the call was about, if it is known.
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
    /// True if there is no such file or folder.
    var isMissingFile: Bool { Platform.missingFile.contains(errorNumber) }

    /// True if the system may have refused the file because the device is locked.
    package var isOfLockedDevice: Bool { Platform.lockedDevice.contains(errorNumber) }

    /// True if permissions are missing, which the owner can grant.
    ///
    /// An immutable file has another error.
    var isDenied: Bool { errorNumber == EACCES }

    var isNotPermitted: Bool { errorNumber == EPERM }

    var isOtherFileSystem: Bool { errorNumber == EXDEV }

    /// True if a folder can't be renamed and its entries may be (rename(2)).
    var leavesEntriesMovable: Bool { [EXDEV, EBUSY, EPERM, EACCES].contains(errorNumber) }

    /// This error with its path moved to another folder, if the path is at or below `old`.
    func moved(from old: String, to new: String) -> SystemCallError {
        guard let path, FilePaths.contains(old, path: path) else { return self }
        let place = new + String(decoding: path.utf8.dropFirst(old.utf8.count), as: UTF8.self)
        return SystemCallError(call: call, errorNumber: errorNumber, path: place)
    }

    /// This error, with a path if it has none.
    func at(_ place: String) -> SystemCallError {
        SystemCallError(call: call, errorNumber: errorNumber, path: path ?? place)
    }
}

/// Errors that this library finds itself, in the words that the system has for them.
extension SystemCallError {
    /// The error for an item that is neither a file nor a folder nor a link.
    static func unsupported(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: ENOTSUP, path: path)
    }

    /// The error for a folder that isn't one of this user's.
    static func foreign(_ path: String) -> SystemCallError {
        SystemCallError(call: "open", errorNumber: EPERM, path: path)
    }

    /// The error for a file system that is mounted inside a tree.
    static func mounted(_ path: String) -> SystemCallError {
        SystemCallError(call: "rename", errorNumber: EXDEV, path: path)
    }

    /// The error for a state that would be larger than the limit.
    static var tooLarge: SystemCallError { SystemCallError(call: "write", errorNumber: EFBIG) }
}
