/// Identifies a file by its device and its file number, whatever path leads to it.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
}
