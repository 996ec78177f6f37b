import AppMigrationsSystem

/// Copies files, one after the other, as clones if the file system can do that.
///
/// A clone shares its blocks with the original. A file system that can't is asked only once by each copier: a
/// protected folder may hold ten thousand files.
final class FileCopier {
    /// Makes an empty file share the blocks of an original; returns 0 or the error number.
    typealias Clone = (_ original: Int32, _ copy: Int32) -> Int32

    private let clone: Clone
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    private var devicesWithoutClones: Set<UInt64> = []

    init(clone: @escaping Clone = Platform.clone) {
        self.clone = clone
    }

    deinit { buffer.deallocate() }

    /// Copies a file to a path where nothing exists, with its owner, permissions, extended attributes and
    /// times.
    ///
    /// `didCopy` gets the number of bytes after each part.
    func copy(_ path: String, to target: String, didCopy: (_ count: Int) throws -> Void) throws {
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
                while case let count = try Platform.fill(buffer, of: original), count > 0 {
                    try Platform.writeAll(buffer.baseAddress, count: count, to: copy, at: target)
                    try didCopy(count)
                }
            }
            try Platform.copyAttributes(of: original, status, to: copy, path: path)
        } catch {
            Platform.closeAfterReading(copy)
            throw error
        }
        try Platform.closeAfterWriting(copy)
        #endif
    }

    /// False if the file must be copied byte by byte.
    private func sharesBlocks(of original: Int32, on device: UInt64, with copy: Int32) -> Bool {
        if devicesWithoutClones.contains(device) { return false }
        let number = clone(original, copy)
        if Platform.refusesAllClones(number) { devicesWithoutClones.insert(device) }
        return number == 0
    }
}
