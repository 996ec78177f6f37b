/// Reads and saves the state file of one manager.
struct StateFile: Sendable {
    let location: StateLocation

    static var sizeLimit: Int { 1 << 20 }

    // The path and a state with a short history fit the part of the stack that Swift gives without asking the heap,
    // and a page of it that is in memory already. A longer history passes through one page more: to bring others into
    // memory takes longer than to call the system again.
    private static var stackSize: Int { 1_024 }
    private static var pageSize: Int { 4_096 }
    private static var pathLimit: Int { 4_096 }

    /// What a start finds.
    ///
    /// Not an `Optional`, for the reason given at `StateMarks.Interrupted`.
    enum Found {
        case absent
        case marks(StateMarks)
    }

    private enum Outcome {
        case found(Found)
        case pathTooLong
        case unreadable(SystemCallError)
        case problem
    }

    /// What a start needs of the state: `open`, `read`, `close`, and no allocation that outlives the call.
    func readMarks() throws(MigrationError) -> Found {
        var outcome = withUnsafeTemporaryAllocation(byteCount: Self.stackSize, alignment: 16) {
            readMarks($0)
        }
        if case .pathTooLong = outcome {
            let size = Self.pathLimit + Self.stackSize
            outcome = withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { readMarks($0) }
        }
        switch outcome {
        case .found(let found): return found
        case .pathTooLong:
            throw .unreadable(SystemCallError(call: "open", errorNumber: Platform.nameTooLong), location)
        case .unreadable(let error): throw refusal(error)
        case .problem:
            // A file system of the network may give less than there is in one call: nothing is refused before the
            // whole was read.
            guard let state = try readState() else { return .absent }
            return .marks(state.marks)
        }
    }

    private func readMarks(_ buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let path = buffer.assumingMemoryBound(to: UInt8.self)
        let length = StateLocation.writeStatePath(
            directory: location.directory,
            name: location.name,
            into: path
        )
        guard length > 0, length <= buffer.count - Self.stackSize / 2, let start = buffer.baseAddress else {
            return .pathTooLong
        }
        do throws(SystemCallError) {
            let descriptor = try Platform.openToRead(
                UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
            )
            defer { Platform.closeAfterReading(descriptor) }
            let content = UnsafeMutableRawBufferPointer(rebasing: buffer[length...])
            let count = try Platform.fill(content, from: descriptor)
            // Only a full buffer can hide more: a regular file is read to its end in one call.
            if count == content.count { return try readLonger(descriptor, content) }
            return marks(UnsafeRawBufferPointer(rebasing: content[..<count]))
        } catch {
            return error.errorNumber == Platform.noEntry ? .found(.absent) : .unreadable(error)
        }
    }

    @inline(never)
    private func readLonger(
        _ descriptor: Int32,
        _ beginning: UnsafeMutableRawBufferPointer
    ) throws(SystemCallError) -> Outcome {
        let outcome = marks(UnsafeRawBufferPointer(beginning), isWhole: false)
        guard case .found = outcome else { return outcome }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pageSize, alignment: 16)
        defer { page.deallocate() }
        var end = HistoryEnd()
        var size = beginning.count
        while size <= Self.sizeLimit {
            let count = try Platform.fill(page, from: descriptor)
            size += count
            guard end.passes(UnsafeRawBufferPointer(rebasing: page[..<count])) else { return .problem }
            if count < page.count { return end.isComplete && size <= Self.sizeLimit ? outcome : .problem }
        }
        return .problem
    }

    private func marks(_ content: UnsafeRawBufferPointer, isWhole: Bool = true) -> Outcome {
        do throws(StateProblem) {
            let bytes = content.assumingMemoryBound(to: UInt8.self)
            return .found(.marks(try StateMarks.read(bytes, name: location.name, isWhole: isWhole)))
        } catch {
            return .problem
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

    /// Replaces the state in one step: a temporary file, written and synchronized, renamed, the directory
    /// synchronized.
    ///
    /// Only under the lock, which ``LockedState`` sees to.
    func save(_ state: MigrationState) throws(SaveFailure) {
        let temporary = location.temporary
        do throws(SystemCallError) {
            // What could not be read again is not written: the old state stands.
            guard let document = state.document(limit: Self.sizeLimit) else { throw Platform.tooLarge }
            let descriptor = try createTemporary()
            do throws(SystemCallError) {
                try Platform.writeAll(descriptor, document)
                try Platform.keepRights(descriptor, of: location.state)
                try Platform.synchronize(descriptor)
            } catch {
                Platform.closeAfterReading(descriptor)
                throw error
            }
            try Platform.closeAfterWriting(descriptor)
            try Platform.replace(location.state, with: temporary)
        } catch {
            throw SaveFailure(cause: error, isRenamed: false, leftover: removeTemporary())
        }
        do throws(SystemCallError) {
            try Platform.synchronizeDirectory(location.directory)
        } catch {
            throw SaveFailure(cause: error, isRenamed: true)
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

    private func removeTemporary() -> SystemCallError? {
        do throws(SystemCallError) {
            try Platform.removeFile(location.temporary)
            return nil
        } catch {
            return error.errorNumber == Platform.noEntry ? nil : error
        }
    }
}

/// A save that didn't come to its end.
final class SaveFailure: Error {
    /// A ``SystemCallError``, or the loss of the lock.
    let cause: any Error
    /// Whether the new state stands already, and only its survival of a power failure is uncertain.
    let isRenamed: Bool
    /// Why the temporary file could not be removed either; the next save does it.
    let leftover: SystemCallError?

    init(cause: any Error, isRenamed: Bool, leftover: SystemCallError? = nil) {
        self.cause = cause
        self.isRenamed = isRenamed
        self.leftover = leftover
    }
}
