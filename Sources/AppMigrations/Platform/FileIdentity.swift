/// Distinguishes a file from every other file, by whatever path it was reached.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let file: UInt64
}
