/// Where the files of a manager are: the state, the lock and the snapshot, all in one directory.
///
/// It is a class because nearly every function of this library has it as a parameter. Copying the four words
/// of a struct in each of them made up a tenth of the library's code.
package final class StateLocation: Sendable {
    package let name: String

    /// An absolute path.
    ///
    /// If the app named a relative one, `getcwd` completed it when the manager was made.
    package let directory: String

    /// What errors call the store, if the state is not in a file.
    private let store: String?

    /// True if the manager is read-only.
    let isReadOnly: Bool

    package init(name: String, directory: String, store: String? = nil, isReadOnly: Bool = false) {
        self.name = name
        self.directory = directory
        self.store = store
        self.isReadOnly = isReadOnly
    }

    /// The path of the state file, or what errors call a state that is not in a file.
    package var state: String {
        guard let store else { return file(".migrations.json") }
        return "document " + name.quoted + " in " + store
    }

    /// The path of the state file; `nil` if the state is not in a file.
    var path: String? { store == nil ? state : nil }
    var lock: String { file(".migrations.lock") }

    /// The path of the first snapshot.
    ///
    /// If abandoned copies are still there, ``nextSnapshot()`` has a number at its end.
    var snapshot: String { file(Self.snapshotSuffix) }

    /// The path of the snapshot that is in use; `nil` if there is none.
    ///
    /// Most closures protect nothing. For them this is the only question about copies.
    func existingSnapshot() throws(SystemCallError) -> String? {
        let found = try snapshotInUseOrNext()
        return found.exists ? found.folder : nil
    }

    /// The path for the next snapshot, where nothing exists.
    func nextSnapshot() throws(SystemCallError) -> String { try snapshotInUseOrNext().folder }

    /// The snapshot that is in use, or the path for the next one.
    ///
    /// Snapshots with the mark of abandoned copies are passed over: these copies could not be moved to
    /// another folder.
    private func snapshotInUseOrNext() throws(SystemCallError) -> (folder: String, exists: Bool) {
        var folder = snapshot
        var number = 2
        while true {
            let next = "\(snapshot)-\(number)"
            if try Platform.exists(at: folder) {
                if try !Platform.exists(at: folder + "/" + Self.keptMark) { return (folder, true) }
            } else if try !Platform.exists(at: next) {
                return (folder, false)
            }
            // Go on even if this folder is missing. Someone may have removed a marked snapshot, and the next
            // one may be in use.
            folder = next
            number += 1
        }
    }

    /// The manager whose snapshot has this name, with or without a number at its end; `nil` for other names.
    static func managerName(ofSnapshot name: String) -> String? {
        // The last suffix counts, because the name of a manager may contain the same text.
        name.ranges(of: snapshotSuffix).last.map { String(name[..<$0.lowerBound]) }
    }

    /// The name of an entry that marks a snapshot as abandoned: its copies are never restored or removed.
    static var keptMark: String { "kept" }

    /// The folder for copies that were abandoned, or whose state was lost.
    ///
    /// The number distinguishes two folders of one second.
    func keptCopies(from time: Int64, number: Int) -> String {
        movedAside("kept", time: time, number: number)
    }

    /// The path to which a forgotten state is moved.
    func forgottenState(at time: Int64, number: Int) -> String {
        movedAside("forgotten", time: time, number: number)
    }

    private func movedAside(_ reason: String, time: Int64, number: Int) -> String {
        let time = Timestamp.text(time).filter { $0 != "-" && $0 != ":" }
        return file(".migrations.\(reason)-\(time)" + (number == 1 ? "" : "-\(number)"))
    }

    static var suffix: StaticString { ".migrations.json" }
    static var snapshotSuffix: String { ".migrations.snapshot" }

    /// The longest name of a manager, in bytes.
    ///
    /// File systems allow names of 255 bytes, and the longest suffix that this library adds has about 40.
    package static var nameLimit: Int { 200 }

    private func file(_ suffix: String) -> String {
        directory + (directory.utf8.last == 0x2F ? "" : "/") + name + suffix
    }

    /// Refuses a name that can't be part of a file's name on every file system.
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
            at most \(nameLimit) of them, and doesn't begin with a dot.
            """
        throw MigrationError(.invalidName, manager: name, text, advice: "Pass another name.")
    }

    /// An error of this manager.
    ///
    /// Its path is that of the state, unless another one is given. With an advice, the call that throws the
    /// error adds what it left unchanged, by ``MigrationError/completed(by:)``.
    @inline(never)
    package func error(
        _ code: MigrationError.Code,
        _ version: AppVersion? = nil,
        at path: String? = nil,
        because cause: (any Error)? = nil,
        isTransient: Bool = false,
        _ message: Message,
        advice: Message? = nil
    ) -> MigrationError {
        MigrationError(
            code,
            manager: name,
            version: version,
            path: path ?? self.path,
            underlying: cause,
            isTransient: isTransient,
            message,
            advice: advice
        )
    }

    /// Writes the path of the state file and a NUL into `buffer`.
    ///
    /// A start uses it instead of ``state``, because it allocates no `String`. A test compares the two.
    ///
    /// - Returns: The length with the NUL, or 0 if `buffer` is too short.
    func writePath(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        // The name's length was checked when the manager was made.
        let limit = buffer.count &- Self.nameLimit &- Self.suffix.utf8CodeUnitCount &- 2
        if directory.isEmpty || directory.utf8.count > limit { return 0 }
        var directory = directory
        var name = name
        var end = 0
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
        // A `StaticString` ends with a NUL, which isn't counted.
        write(UnsafeBufferPointer(start: Self.suffix.utf8Start, count: Self.suffix.utf8CodeUnitCount &+ 1))
        return end
    }
}

extension Message.Interpolation {
    /// Appends the manager and its state, as `manager "Library" (/path)`.
    @inline(never)
    package mutating func appendInterpolation(_ location: StateLocation) {
        appendInterpolation("manager " + location.name.quoted + " (" + location.state + ")")
    }
}
