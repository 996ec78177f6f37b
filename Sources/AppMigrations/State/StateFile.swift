/// Reads and saves the state file of one manager.
///
/// A save syncs the file. The callers sync the rest: ``LockedState`` syncs the folder, and before the first
/// state the folders above it. ``Snapshot`` syncs the copies before the intent is saved, and the protected
/// files before a migration is recorded.
struct StateFile: Sendable {
    let location: StateLocation

    /// The largest size of a state file, in bytes.
    static var sizeLimit: Int { 1 << 20 }

    /// Reads the part of the state that a start needs, with one `open`, `read` and `close`.
    ///
    /// If the file doesn't begin like a state that this library wrote, it is read again in full. That reports
    /// what is wrong with it.
    ///
    /// - Returns: `nil` if there is no state.
    func readMarks() throws(MigrationError) -> StateMarks? {
        // Swift takes up to 1,024 bytes from the stack and not from the heap. They hold the path, then the
        // first bytes of the file.
        let marks = withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { readHead(into: $0) }
        return if let marks { marks } else { try readState()?.marks }
    }

    private func readHead(into buffer: UnsafeMutableRawBufferPointer) -> StateMarks? {
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
            // The file is read again in full. If that fails too, its error is reported.
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

    /// The error for a state that could not be opened or read.
    ///
    /// The number of the system's error doesn't say whether there is a link, a folder or a FIFO at the path,
    /// or a file that can't be read at the moment. `open` fails with `EAGAIN` also if another process has a
    /// lease on the file (fcntl(2)), and with `ELOOP` also if links above the file form a loop.
    private func failureToRead(_ error: SystemCallError) -> MigrationError {
        do throws(SystemCallError) {
            if try FileStatus(ofEntry: location.state).kind != .file { return .notRegular(location) }
        } catch {
            // The error of the first call is the one to report.
        }
        return .unreadable(error, at: location)
    }

    /// Replaces the state atomically: writes and syncs a temporary file, then renames it.
    ///
    /// The caller holds the lock, which ``LockedState`` makes sure of, and syncs the directory.
    func replace(with state: MigrationState) throws(SystemCallError) {
        // A larger file would be refused when it is read, so the old state is kept.
        guard let document = state.writtenDocument else { throw SystemCallError.tooLarge }
        Platform.closeAfterReading(try Platform.save(document, to: location.state, in: location.directory))
    }

    /// True if something exists at the state's path, whatever it is.
    func exists() throws(MigrationError) -> Bool {
        do throws(SystemCallError) {
            return try Platform.exists(at: location.state)
        } catch {
            throw .unreadable(error, at: location)
        }
    }

    /// Moves aside what is at the state's path, and returns its new path.
    ///
    /// The caller holds the lock, and syncs the directory.
    func moveAside(at time: Int64) throws(SystemCallError) -> String {
        var number = 1
        while try Platform.exists(at: location.forgottenState(at: time, number: number)) { number += 1 }
        let path = location.forgottenState(at: time, number: number)
        try Platform.replace(path, with: location.state)
        return path
    }
}
