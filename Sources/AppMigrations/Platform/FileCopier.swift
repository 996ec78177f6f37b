import AppMigrationsSystem

/// Copies files, one after the other, as clones if the file system can make clones.
///
/// A clone shares its blocks with the original. If the file system can't make clones, a copier finds that out
/// with the first file and then copies the bytes of all files, because a folder may contain ten thousand.
package final class FileCopier {
    /// Makes the empty file `copy` share the blocks of `original`; returns 0 or the `errno` value.
    typealias Clone = (_ original: Int32, _ copy: Int32) -> Int32

    private let clone: Clone
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    private var devicesWithoutClones: Set<UInt64> = []

    init(clone: @escaping Clone) {
        self.clone = clone
    }

    package convenience init() { self.init(clone: Platform.clone) }

    deinit { buffer.deallocate() }

    /// Copies a file to `target`, where nothing may exist, with its owner, permissions, extended attributes
    /// and times.
    ///
    /// `didCopy` is called after each part of the file, with the number of bytes in that part.
    package func copy(_ path: String, to target: String, didCopy: (_ count: Int) throws -> Void) throws {
        let original = try Platform.openEntry(path)
        defer { Platform.closeAfterReading(original) }
        let status = try FileStatus(ofOpen: original, path: path)
        if status.kind != .file { throw SystemCallError.unsupported(path) }
        #if canImport(Darwin)
        try Platform.copyFile(path, opened: original, to: target)
        try didCopy(status.size)
        #else
        let copy = try Platform.createExclusively(target)
        do {
            if sharesBlocks(of: original, on: status.identity.device, with: copy) {
                try didCopy(status.size)
            } else {
                var total = 0
                while case let count = try Platform.fill(buffer, of: original), count > 0 {
                    try Platform.writeAll(buffer.baseAddress, count: count, to: copy, at: target)
                    try didCopy(count)
                    total += count
                }
                if total != status.size { throw SystemCallError.incomplete(path) }
            }
            try Platform.copyAttributes(of: original, status, to: copy, path: path)
        } catch {
            Platform.closeAfterReading(copy)
            throw error
        }
        try Platform.closeAfterWriting(copy)
        #endif
    }

    /// Tries to clone a file; returns false if its bytes have to be copied.
    private func sharesBlocks(of original: Int32, on device: UInt64, with copy: Int32) -> Bool {
        if devicesWithoutClones.contains(device) { return false }
        let number = clone(original, copy)
        if Platform.refusesAllClones(number) { devicesWithoutClones.insert(device) }
        return number == 0
    }
}
