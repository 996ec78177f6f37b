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
