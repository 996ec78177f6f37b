import AppMigrationsSystem

/// A way to sync all of one file system to disk, and to learn what could not be written to it since this value was made.
///
/// An open file of that file system witnesses its errors.
struct FileSystemFlush {
    let device: UInt64

    /// Syncs everything; false if that can't be relied on.
    let run: () throws(SystemCallError) -> Bool
}

extension FileSystemFlush {
    /// Calls `body` with the flush of the file system that a folder is on, which is kept open meanwhile.
    static func opening<Result>(_ folder: String, _ body: (FileSystemFlush) throws -> Result) throws -> Result
    {
        let descriptor = try Platform.openDirectory(folder)
        defer { Platform.closeAfterReading(descriptor) }
        let device = try FileStatus(descriptor, folder).identity.device
        return try body(
            FileSystemFlush(device: device) { () throws(SystemCallError) in
                try Platform.flushFileSystem(of: descriptor)
            }
        )
    }
}

extension FileLock {
    /// The flush of the file system that the lock's file is on.
    var flush: FileSystemFlush {
        FileSystemFlush(device: identity.device) { [self] () throws(SystemCallError) in try flushFileSystem()
        }
    }
}
