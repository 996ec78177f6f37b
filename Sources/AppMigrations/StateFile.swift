/// Reads and saves the state file of one manager.
struct StateFile: Sendable {
    let location: StateLocation

    static var sizeLimit: Int { 1 << 20 }

    // The most that `withUnsafeTemporaryAllocation` keeps on the stack without asking the runtime, which would take it
    // from the heap: two calls to bind and two pages to touch that most starts can do without.
    private static var smallRead: Int { 1_024 }

    // What a state with a hundred rows of history takes; more is read once again, by `readState`.
    private static var largeRead: Int { 16 << 10 }

    /// What a start finds.
    ///
    /// Not an `Optional`, for the reason given at `Interruption.Record`.
    enum Found {
        case absent
        case marks(MigrationMarks)
    }

    private enum Outcome {
        case found(Found)
        case larger
        case unreadable(SystemCallError)
        case problem(StateProblem)
    }

    /// What a start needs of the state: `open`, `read`, `close`, and no allocation unless there is a long history.
    func readMarks() throws(MigrationError) -> Found {
        let outcome = withUnsafeTemporaryAllocation(byteCount: Self.smallRead, alignment: 1) {
            readMarks(by: $0)
        }
        switch outcome {
        case .found(let found): return found
        case .larger:
            guard let state = try readState() else { return .absent }
            return .marks(state.marks)
        case .unreadable(let error): throw .unreadable(error, location)
        case .problem(let problem): throw .notOurs(problem, location)
        }
    }

    /// The buffer holds first the path and then what the file holds.
    private func readMarks(by buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        let path = buffer.assumingMemoryBound(to: UInt8.self)
        guard StateLocation.writeStatePath(directory: location.directory, name: location.name, into: path),
            let start = buffer.baseAddress
        else { return .larger }
        do throws(SystemCallError) {
            let descriptor = try Platform.openToRead(
                UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
            )
            defer { Platform.closeAfterReading(descriptor) }
            let count = try Platform.fill(buffer, from: descriptor)
            // Only a full buffer can hide more: a regular file is read to its end in one call.
            if count == buffer.count { return try readOn(buffer, descriptor) }
            return marks(buffer, count)
        } catch {
            return error.errorNumber == Platform.noEntry ? .found(.absent) : .unreadable(error)
        }
    }

    @inline(never)
    private func readOn(
        _ beginning: UnsafeMutableRawBufferPointer,
        _ descriptor: Int32
    ) throws(SystemCallError) -> Outcome {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.largeRead, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyMemory(from: UnsafeRawBufferPointer(beginning))
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[beginning.count...])
        let count = try Platform.fill(rest, from: descriptor)
        return count == rest.count ? .larger : marks(buffer, beginning.count + count)
    }

    private func marks(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) -> Outcome {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count]).assumingMemoryBound(to: UInt8.self)
        do throws(StateProblem) {
            return .found(.marks(try MigrationMarks.read(bytes, name: location.name)))
        } catch {
            return .problem(error)
        }
    }

    /// The whole state, or `nil` when there is none.
    func readState() throws(MigrationError) -> MigrationState? {
        let content: [UInt8]?
        do throws(SystemCallError) {
            content = try Platform.contents(ofFile: location.state, limit: Self.sizeLimit)
        } catch {
            if error.errorNumber == Platform.noEntry { return nil }
            throw .unreadable(error, location)
        }
        guard let content else { throw .notRegular(location) }
        do throws(StateProblem) {
            return try content.withUnsafeBufferPointer { bytes throws(StateProblem) in
                try MigrationState.read(bytes, name: location.name)
            }
        } catch {
            throw .notOurs(error, location)
        }
    }

    /// Replaces the state in one step: a temporary file, written and synchronized, renamed, the directory
    /// synchronized.
    ///
    /// Only under the lock.
    func save(_ state: MigrationState) throws(SaveFailure) {
        let temporary = location.temporary
        do throws(SystemCallError) {
            guard let document = state.document(limit: Self.sizeLimit) else { throw Platform.tooLarge }
            let descriptor = try createTemporary()
            do throws(SystemCallError) {
                try Platform.writeAll(descriptor, document)
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
            throw SaveFailure(cause: error, isRenamed: true, leftover: nil)
        }
    }

    /// Removes the state.
    ///
    /// Only under the lock.
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
struct SaveFailure: Error {
    let cause: SystemCallError
    /// Whether the new state stands already, and only its survival of a power failure is uncertain.
    let isRenamed: Bool
    /// Why the temporary file could not be removed either; the next save does it.
    let leftover: SystemCallError?
}
