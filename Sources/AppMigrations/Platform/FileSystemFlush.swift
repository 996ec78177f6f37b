import AppMigrationsSystem

/// Syncs a whole file system to disk, and reports every error of writing to it since this value was made.
///
/// It does that by an open file of that file system: the kernel reports errors to the files that were open
/// when they happened.
struct FileSystemFlush {
    let device: UInt64

    /// Syncs everything; false if that isn't reliable on this file system.
    let run: () throws(SystemCallError) -> Bool
}

extension FileSystemFlush {
    /// Calls `body` with the flush of the file system that a folder is on.
    ///
    /// It ends when `body` returns.
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
