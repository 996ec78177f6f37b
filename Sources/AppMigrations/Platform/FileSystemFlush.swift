import AppMigrationsSystem

/// Syncs a whole file system to disk, and throws if anything could not be written since this value was
/// created.
///
/// To do that, it keeps a file or folder of the file system open: the kernel reports a write error to every
/// file that was open when the error happened.
struct FileSystemFlush {
    /// The device of the file system.
    let device: UInt64

    /// Syncs the whole file system.
    ///
    /// Returns false if that isn't reliable on this file system, so that each file has to be synced.
    let run: () throws(SystemCallError) -> Bool
}

extension FileSystemFlush {
    /// Opens a folder, and passes `body` a `FileSystemFlush` for the file system that contains it.
    ///
    /// When `body` has returned, the folder is closed, so the value can't be used any more.
    static func opening<Result>(_ folder: String, _ body: (FileSystemFlush) throws -> Result) throws -> Result
    {
        let descriptor = try Platform.openDirectory(folder)
        defer { Platform.closeAfterReading(descriptor) }
        let device = try FileStatus(ofOpen: descriptor, path: folder).identity.device
        return try body(
            FileSystemFlush(device: device) { () throws(SystemCallError) in
                try Platform.flushFileSystem(of: descriptor)
            }
        )
    }
}
