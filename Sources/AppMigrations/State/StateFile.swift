/// Reads and saves the state file of one manager: format, name, marks, interruption, attempts and history, as `StateCoding` has them.
///
/// A save syncs the file here, and ``LockedState`` the folder, before the first state also those above. ``Snapshot`` syncs the copies
/// before the intent is saved, and what is protected before the record.
struct StateFile: Sendable {
    let location: StateLocation

    static var sizeLimit: Int { 1 << 20 }

    /// The part of the state that a start needs, or `nil` when there is none: `open`, one `read`, `close`.
    ///
    /// Whatever isn't the head that this library writes is read again and in full, which says what is wrong with it.
    func readMarks() throws(MigrationError) -> StateMarks? {
        // So many bytes, for the path and the head, are a part of the stack that Swift gives without asking the heap.
        let head = withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { readHead($0) }
        return if let head { head } else { try readState()?.marks }
    }

    private func readHead(_ buffer: UnsafeMutableRawBufferPointer) -> StateMarks? {
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
        do throws(SystemCallError) {
            if try FileStatus(ofEntry: location.state).kind != .file { return .notRegular(location) }
        } catch {
            // Where the look fails too, the first error is the one to tell.
        }
        return .unreadable(error, location)
    }

    /// Replaces the state in one step: a temporary file, written and synced, is renamed.
    ///
    /// The caller syncs the directory. Only under the lock, which ``LockedState`` sees to.
    func replace(with state: MigrationState) throws(SystemCallError) {
        // A text that could not be read again is not written: the old state stands.
        guard let document = state.writtenDocument else { throw Platform.tooLarge }
        Platform.closeAfterReading(try Platform.save(document, to: location.state, in: location.directory))
    }

    /// True if something is at the state's path, whatever it is.
    func exists() throws(MigrationError) -> Bool {
        do throws(SystemCallError) {
            return try Platform.exists(at: location.state)
        } catch {
            throw .unreadable(error, location)
        }
    }

    /// Moves aside what is at the state's path, and returns its new path; the caller syncs the directory.
    func moveAside(at time: Int64) throws(SystemCallError) -> String {
        var number = 1
        while try Platform.exists(at: location.forgotten(time, number)) { number += 1 }
        let path = location.forgotten(time, number)
        try Platform.replace(path, with: location.state)
        return path
    }
}

/// The beginning of a state's text in the one form that this library writes: all that a start reads.
///
/// Any other text, and a state that holds more than marks, is for ``JSON`` to read, which also says what is wrong with it. So
/// damage behind the head is found by the first start that has work.
package struct StateHead {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// The marks, or `nil` where the whole text has to be read.
    package static func read(_ bytes: UnsafeBufferPointer<UInt8>, name: String) -> StateMarks? {
        var head = StateHead(bytes: bytes)
        guard head.pass("{\n  \"format\" : 1,\n  \"name\" : \""), head.passName(name), head.pass("\",\n"),
            head.pass("  \"lastRunVersion\" : \""), let lastRun = head.version(),
            head.pass("  \"baseline\" : \""), let baseline = head.version(),
            head.pass("  \"launchedVersion\" : \""), let launched = head.version()
        else { return nil }
        let isFresh = head.pass("  \"freshInstall\" : \"")
        let freshInstall = isFresh ? head.version() : nil
        guard isFresh == (freshInstall != nil) else { return nil }
        let hasFloor = head.pass("  \"minimumAppVersion\" : \"")
        let floor = hasFloor ? head.version() : nil
        guard hasFloor == (floor != nil), head.passEnd() else { return nil }
        return StateMarks(
            lastRun: lastRun,
            baseline: baseline,
            launched: launched,
            freshInstall: freshInstall,
            minimumAppVersion: floor
        )
    }

    /// Passes what ends the head: the history, with the highest version that it lost, or the number of a fleet's lease.
    private mutating func passEnd() -> Bool {
        if pass("  \"history\" : [") || pass("  \"fence\" : ") { return true }
        return pass("  \"droppedVersion\" : \"") && version() != nil && pass("  \"history\" : [")
    }

    private mutating func pass(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        for offset in 0..<count where bytes[index &+ offset] != text.utf8Start[offset] { return false }
        index += count
        return true
    }

    /// Passes a manager's name, in which JSON has nothing to escape.
    private mutating func passName(_ name: String) -> Bool {
        for byte in name.utf8 {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }

    /// Passes a version and the end of its line.
    private mutating func version() -> AppVersion? {
        let start = index
        while index < bytes.count, bytes[index] != 0x22 { index += 1 }
        var reader = VersionReader()
        if reader.read(UnsafeBufferPointer(rebasing: bytes[start..<index])) != nil { return nil }
        return pass("\",\n") ? reader.version() : nil
    }
}
