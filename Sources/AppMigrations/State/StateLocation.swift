/// Where a manager's files are: the state, and beside it the lock and the snapshot.
///
/// A class, since nearly every function of this library is handed one: four words to copy and to count in each were a tenth
/// of its code.
package final class StateLocation: Sendable {
    package let name: String
    /// An absolute path.
    package let directory: String
    /// The name in errors of a store that is no file, which has no path.
    private let store: String?
    /// True if a manager only looks here.
    let isReadOnly: Bool

    package init(name: String, directory: String, store: String? = nil, isReadOnly: Bool = false) {
        (self.name, self.directory, self.store, self.isReadOnly) = (name, directory, store, isReadOnly)
    }

    /// The path of the state file, or what an error calls a state that is no file.
    package var state: String {
        guard let store else { return file(".migrations.json") }
        return "document " + name.quoted + " in " + store
    }
    /// The path of the state, where it is a file.
    var path: String? { store == nil ? state : nil }
    var lock: String { file(".migrations.lock") }
    var snapshot: String { file(Self.snapshotSuffix) }

    /// The snapshot that is in use, if there is one.
    ///
    /// Most closures protect nothing, and then this is all that they ask about copies.
    func existingSnapshot() throws(SystemCallError) -> String? {
        let (folder, isThere) = try snapshotInUse()
        return isThere ? folder : nil
    }

    /// The folder for the next copies, which isn't there.
    func nextSnapshot() throws(SystemCallError) -> String { try snapshotInUse().folder }

    /// The snapshot that is in use, or the next one: not one that holds copies which were given up and could not be moved aside.
    private func snapshotInUse() throws(SystemCallError) -> (folder: String, isThere: Bool) {
        var folder = snapshot
        var number = 2
        while true {
            let next = "\(snapshot)-\(number)"
            if try Platform.exists(at: folder) {
                if try !Platform.exists(at: folder + "/" + Self.keptMark) { return (folder, true) }
            } else if try !Platform.exists(at: next) {
                // Otherwise somebody removed one with the mark, and the next is in use.
                return (folder, false)
            }
            folder = next
            number += 1
        }
    }

    /// The manager whose snapshot has a name, whatever number it ends with; `nil` for other names.
    static func managerName(ofSnapshot name: String) -> String? {
        // The last one, since a manager may have a name like this too.
        name.ranges(of: snapshotSuffix).last.map { String(name[..<$0.lowerBound]) }
    }

    static var keptMark: String { "kept" }

    /// The folder of copies that were given up, or whose state was lost; a number tells two of one second apart.
    func kept(_ time: Int64, _ number: Int) -> String { aside("kept", time, number) }

    /// The path of a state that was forgotten.
    func forgotten(_ time: Int64, _ number: Int) -> String { aside("forgotten", time, number) }

    private func aside(_ reason: String, _ time: Int64, _ number: Int) -> String {
        let time = Timestamp.text(time).filter { $0 != "-" && $0 != ":" }
        return file(".migrations.\(reason)-\(time)" + (number == 1 ? "" : "-\(number)"))
    }

    static var suffix: StaticString { ".migrations.json" }
    static var snapshotSuffix: String { ".migrations.snapshot" }

    /// File systems take names of 255 bytes, and the longest suffix of ours has some 40.
    package static var nameLimit: Int { 200 }

    private func file(_ suffix: String) -> String {
        directory + (directory.utf8.last == 0x2F ? "" : "/") + name + suffix
    }

    /// Refuses a name that can't stand in the names of files as it is.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidName`.
    package static func check(_ name: String) throws(MigrationError) {
        var isUsable = !name.isEmpty && name.utf8.first != 0x2E && name.utf8.count <= nameLimit
        for byte in name.utf8 {
            switch byte {
            case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2E, 0x5F, 0x2D: continue
            default: isUsable = false
            }
        }
        if isUsable { return }
        let text: Message = """
            The manager's name \(name.quoted) can't be used: a name is made of A-Z, a-z, 0-9, dots, hyphens and underscores, \
            at most \(nameLimit) of them, and doesn't begin with a dot. Nothing was run. Pass another name.
            """
        throw MigrationError(.invalidName, manager: name, text)
    }

    /// An error of this manager; `path` is the state's where none is named.
    @inline(never)
    package func error(
        _ code: MigrationError.Code,
        _ version: AppVersion? = nil,
        at path: String? = nil,
        because cause: (any Error)? = nil,
        isTransient: Bool = false,
        _ message: Message
    ) -> MigrationError {
        MigrationError(
            code,
            manager: name,
            version: version,
            path: path ?? self.path,
            underlying: cause,
            isTransient: isTransient,
            message
        )
    }

    /// Writes the state file's path with its final NUL; gives its length, the NUL included, or 0 when `buffer` is too
    /// short for it.
    ///
    /// The start's own way to ``state``, without a `String`: tests hold the two against each other.
    func writePath(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        // The name's length was checked when the manager was made.
        let limit = buffer.count &- Self.nameLimit &- Self.suffix.utf8CodeUnitCount &- 2
        if directory.isEmpty || directory.utf8.count > limit { return 0 }
        var (directory, name, end) = (directory, name, 0)
        func write(_ bytes: UnsafeBufferPointer<UInt8>) {
            for index in 0..<bytes.count { buffer[end &+ index] = bytes[index] }
            end &+= bytes.count
        }
        directory.withUTF8(write)
        if buffer[end &- 1] != 0x2F {
            buffer[end] = 0x2F
            end &+= 1
        }
        name.withUTF8(write)
        // A `StaticString` has a NUL behind it.
        write(UnsafeBufferPointer(start: Self.suffix.utf8Start, count: Self.suffix.utf8CodeUnitCount &+ 1))
        return end
    }
}

extension Message.Interpolation {
    /// The manager and its state, as `manager "Library" (/path)`.
    @inline(never)
    package mutating func appendInterpolation(_ location: StateLocation) {
        appendInterpolation("manager " + location.name.quoted + " (" + location.state + ")")
    }
}
