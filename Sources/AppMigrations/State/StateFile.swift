/// Reads and saves the state file of one manager.
struct StateFile: Sendable {
    let location: StateLocation

    static var sizeLimit: Int { 1 << 20 }

    // The path and the head fit the part of the stack that Swift gives without asking the heap.
    private static var stackSize: Int { 1_024 }

    /// What a start finds.
    ///
    /// Not an `Optional`, for the reason given at `StateMarks.interruptions`.
    enum Found {
        case absent
        case marks(StateMarks)
    }

    /// What a start needs of the state: `open`, one `read`, `close`, and no allocation.
    ///
    /// Whatever isn't the head that this library writes is read again and in full, which says what is wrong with it.
    func readMarks() throws(MigrationError) -> Found {
        let head = withUnsafeTemporaryAllocation(byteCount: Self.stackSize, alignment: 16) { readHead($0) }
        if let head { return .marks(head) }
        guard let state = try readState() else { return .absent }
        return .marks(state.marks)
    }

    private func readHead(_ buffer: UnsafeMutableRawBufferPointer) -> StateMarks? {
        let path = buffer.assumingMemoryBound(to: UInt8.self)
        let length = StateLocation.writeStatePath(
            directory: location.directory,
            name: location.name,
            into: path
        )
        guard length > 0, let start = buffer.baseAddress else { return nil }
        do throws(SystemCallError) {
            let descriptor = try Platform.openToRead(
                UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
            )
            defer { Platform.closeAfterReading(descriptor) }
            let content = UnsafeMutableRawBufferPointer(rebasing: buffer[length...])
            let count = try Platform.fill(content, from: descriptor)
            let bytes = UnsafeRawBufferPointer(rebasing: content[..<count])
            return StateHead.read(bytes.assumingMemoryBound(to: UInt8.self), name: location.name)
        } catch {
            return nil
        }
    }

    /// The whole state, or `nil` when there is none.
    func readState() throws(MigrationError) -> MigrationState? {
        let content: [UInt8]?
        do throws(SystemCallError) {
            content = try Platform.contents(ofFile: location.state, limit: Self.sizeLimit)
        } catch {
            if error.errorNumber == Platform.noEntry { return nil }
            throw refusal(error)
        }
        guard let content else { throw .notRegular(location) }
        return try MigrationState(document: content, at: location)
    }

    /// Why the state could not be opened or read.
    ///
    /// The error's number doesn't tell a link, a folder or a FIFO at the path from a file that can't be had at the moment:
    /// `open` gives `EAGAIN` for a file with a lease too (fcntl(2)), and `ELOOP` for a loop of links above it.
    private func refusal(_ error: SystemCallError) -> MigrationError {
        Platform.isOtherThanFile(location.state) ? .notRegular(location) : .unreadable(error, location)
    }

    /// Replaces the state in one step: a temporary file, written and synced, is renamed.
    ///
    /// The caller syncs the directory. Only under the lock, which ``LockedState`` sees to.
    func replace(with state: MigrationState) throws(SystemCallError) {
        // What could not be read again is not written: the old state stands.
        guard let document = state.document(limit: Self.sizeLimit) else { throw Platform.tooLarge }
        let descriptor = try createTemporary()
        do throws(SystemCallError) {
            do throws(SystemCallError) {
                try Platform.writeAll(descriptor, document)
                try Platform.own(descriptor, in: location.directory, replacing: location.state)
                try Platform.synchronize(descriptor)
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
            try Platform.closeAfterWriting(descriptor)
            try Platform.replace(location.state, with: location.temporary)
        } catch {
            do throws(SystemCallError) {
                try Platform.removeFile(location.temporary)
            } catch {
                // The next save does it.
            }
            throw error
        }
    }

    /// Removes the state.
    ///
    /// Only under the lock, as above.
    func remove() throws(SystemCallError) {
        do throws(SystemCallError) {
            try Platform.removeFile(location.state)
        } catch {
            if error.errorNumber != Platform.noEntry { throw error }
        }
        try Platform.synchronizeDirectory(location.directory)
    }

    private func createTemporary() throws(SystemCallError) -> Int32 {
        do throws(SystemCallError) {
            return try Platform.createExclusively(location.temporary)
        } catch {
            if error.errorNumber != Platform.exists { throw error }
        }
        // The lock is ours, so nobody is writing it: a process was killed while it saved.
        try Platform.removeFile(location.temporary)
        return try Platform.createExclusively(location.temporary)
    }
}
