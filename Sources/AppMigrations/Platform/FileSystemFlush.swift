import AppMigrationsSystem

/// Syncs a whole file system to disk, and reports every write error on it since this value was created.
///
/// To do that, it keeps a folder of that file system open. The kernel reports a write error to every file
/// that was open when the error happened.
struct FileSystemFlush {
    let device: UInt64

    /// Syncs the whole file system.
    ///
    /// Returns false if that isn't reliable on this file system: sync each file then.
    let run: () throws(SystemCallError) -> Bool
}

extension FileSystemFlush {
    /// Opens a folder, and passes `body` a `FileSystemFlush` for the file system that contains it.
    ///
    /// Don't use that value after `body` has returned, because the folder is closed then.
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
