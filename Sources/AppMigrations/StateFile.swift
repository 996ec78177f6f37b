/// Reads and saves the state file of one manager.
struct StateFile: Sendable {
    let location: StateLocation

    static var sizeLimit: Int { 1 << 20 }

    // What a state with a hundred rows of history takes; more is read in a second go.
    private static var firstRead: Int { 16 << 10 }
    private static var pathLimit: Int { 4_096 }

    private enum Outcome {
        case absent
        case marks(MigrationMarks)
        case larger
        case unreadable(SystemCallError)
        case problem
    }

    /// What a start needs of the state, or `nil` when there is none: `open`, `read`, `close`, and no allocation that
    /// outlives the call.
    func readMarks() throws(MigrationError) -> MigrationMarks? {
        let outcome = withUnsafeTemporaryAllocation(byteCount: Self.pathLimit + Self.firstRead, alignment: 16) {
            let path = UnsafeMutableRawBufferPointer(rebasing: $0[..<Self.pathLimit])
            let content = UnsafeMutableRawBufferPointer(rebasing: $0[Self.pathLimit...])
            return readMarks(path.assumingMemoryBound(to: UInt8.self), content)
        }
        switch outcome {
        case .absent: return nil
        case .marks(let marks): return marks
        case .larger: return try readState()?.marks
        case .unreadable(let error): throw .unreadable(error, location)
        case .problem:
            // A file system of the network may give less than there is in one call: nothing is refused before the
            // whole was read.
            return try readState()?.marks
        }
    }

    private func readMarks(
        _ path: UnsafeMutableBufferPointer<UInt8>,
        _ content: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        guard StateLocation.writeStatePath(directory: location.directory, name: location.name, into: path),
            let start = path.baseAddress
        else { return .unreadable(SystemCallError(call: "open", errorNumber: Platform.nameTooLong)) }
        do throws(SystemCallError) {
            let descriptor = try Platform.openToRead(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
            defer { Platform.closeAfterReading(descriptor) }
            let count = try Platform.fill(content, from: descriptor)
            // Only a full buffer can hide more: a regular file is read to its end in one call.
            if count == content.count { return .larger }
            let bytes = UnsafeRawBufferPointer(rebasing: content[..<count]).assumingMemoryBound(to: UInt8.self)
            return Self.marks(bytes, name: location.name)
        } catch {
            return error.errorNumber == Platform.noEntry ? .absent : .unreadable(error)
        }
    }

    private static func marks(_ bytes: UnsafeBufferPointer<UInt8>, name: String) -> Outcome {
        do throws(StateProblem) {
            return .marks(try MigrationMarks.read(bytes, name: name))
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
    /// synchronized. Only under the lock.
    func save(_ state: MigrationState) throws(SaveFailure) {
        let temporary = location.temporary
        let document = state.document
        // What could not be read again is not written: the old state stands.
        if document.count > Self.sizeLimit {
            throw SaveFailure(cause: Platform.tooLarge, isRenamed: false, leftover: nil)
        }
        do throws(SystemCallError) {
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

    /// Removes the state. Only under the lock.
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
