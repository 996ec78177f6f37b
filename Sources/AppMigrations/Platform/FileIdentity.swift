/// Identifies a file by its device and its inode number, which are the same for every path that leads to the
/// file.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    let file: UInt64
}
