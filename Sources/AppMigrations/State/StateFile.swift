/// Reads and saves the state file of one manager.
///
/// The core syncs these files and folders to disk:
/// - ``replace(with:)`` syncs the new state file before it renames the file to its path.
/// - ``LockedState/save(_:)`` syncs the state directory after that. Before the first state is saved, it also
///   syncs the folders above.
/// - A closure syncs its own files with ``MigrationContext/synchronize(_:)``.
/// - ``Replacement`` and ``WorkingFolder`` sync the copy on which a closure has worked, and each rename.
struct StateFile: Sendable {
    let location: StateLocation

    /// The maximum size of a state file, in bytes.
    static var sizeLimit: Int { 1 << 20 }

    /// Reads the part of the state that a start needs, with one `open`, `read` and `close`.
    ///
    /// If the beginning isn't in the form that this library writes, the file is read again in full. The full
    /// read reports what is wrong with the file.
    ///
    /// - Returns: `nil` if there is no state.
    func readVersions() throws(MigrationError) -> StateVersions? {
        // The buffer holds the path, followed by the first bytes of the file. Swift allocates up to 1,024
        // bytes on the stack and more on the heap, which would take longer.
        let versions = withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { readHead(into: $0) }
        return if let versions { versions } else { try readState()?.versions }
    }

    private func readHead(into buffer: UnsafeMutableRawBufferPointer) -> StateVersions? {
        let length = location.writePath(into: buffer.assumingMemoryBound(to: UInt8.self))
        guard length > 0, let start = buffer.baseAddress else { return nil }
        do throws(SystemCallError) {
            let descriptor = try Platform.openToRead(start.assumingMemoryBound(to: CChar.self))
            defer { Platform.closeAfterReading(descriptor) }
            let content = UnsafeMutableRawBufferPointer(rebasing: buffer[length...])
            let count = try Platform.fill(content, of: descriptor)
            let bytes = UnsafeRawBufferPointer(rebasing: content[..<count])
            return StateHead.read(bytes.assumingMemoryBound(to: UInt8.self), name: location.name)
        } catch {
            // This error is ignored: the caller reads the file again in full, and throws if that fails.
            return nil
        }
    }

    /// Reads the whole state.
    ///
    /// - Returns: `nil` if there is no state.
    func readState() throws(MigrationError) -> MigrationState? {
        let content: [UInt8]?
        do throws(SystemCallError) {
            content = try Platform.contents(ofFile: location.state, limit: Self.sizeLimit)
        } catch {
            if error.errorNumber == Platform.noEntry { return nil }
            throw failureToRead(error)
        }
        guard let content else { throw .notRegular(location) }
        return try MigrationState(document: content, at: location)
    }

    /// Makes the error for a state that could not be opened or read.
    ///
    /// `errno` alone doesn't show whether the entry is a regular file that can't be read at the moment, or
    /// something else. So the entry's kind is checked too:
    /// - `EAGAIN` can mean that the entry isn't a regular file, or that another process holds a lease on the
    ///   file (fcntl(2)).
    /// - `ELOOP` can mean that the entry is a link, or that links in the folders above it form a loop.
    private func failureToRead(_ error: SystemCallError) -> MigrationError {
        do throws(SystemCallError) {
            if try FileStatus(ofEntry: location.state).kind != .file { return .notRegular(location) }
        } catch {
            // This error is ignored: the error of reading the file is reported instead.
        }
        return .unreadable(error, at: location)
    }

    /// Replaces the state atomically: writes and syncs a temporary file, then renames it.
    ///
    /// `document` is the new state's ``MigrationState/documentToSave(at:)``.
    ///
    /// The caller must hold the lock, which ``LockedState`` guarantees. The caller must sync the directory
    /// afterwards.
    func replace(with document: [UInt8]) throws(SystemCallError) {
        try Platform.save(document, to: location.state, in: location.directory)
    }

    /// True if anything exists at the state's path, whether or not it is a file.
    func exists() throws(MigrationError) -> Bool {
        do throws(SystemCallError) {
            return try Platform.exists(at: location.state)
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    /// Moves whatever is at the state's path out of the way, and returns its new path.
    ///
    /// The caller must hold the lock, and must sync the directory afterwards.
    func moveAside(at time: Int64) throws(SystemCallError) -> String {
        var number = 1
        while try Platform.exists(at: location.forgottenState(at: time, number: number)) { number += 1 }
        let path = location.forgottenState(at: time, number: number)
        try Platform.replace(path, with: location.state)
        return path
    }
}
