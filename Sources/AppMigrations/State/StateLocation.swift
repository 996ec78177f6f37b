/// The paths of a manager's files: the state, the lock and the snapshot, which are all in one directory.
///
/// This is a class because nearly every function of the library has it as a parameter. If it were a struct,
/// the code that copies it in all of these functions would make up a tenth of the compiled library.
package final class StateLocation: Sendable {
    package let name: String

    /// The absolute path of the folder with the manager's files.
    ///
    /// ``DefaultLocation`` refuses a relative path. If the state isn't in a file, this is the name of the
    /// store and not a path.
    package let directory: String

    /// The name of the store in error messages, if the state isn't in a file but in a store of several hosts.
    private let store: String?

    /// True if the manager is read-only.
    let isReadOnly: Bool

    package init(name: String, directory: String, store: String? = nil, isReadOnly: Bool = false) {
        self.name = name
        self.directory = directory
        self.store = store
        self.isReadOnly = isReadOnly
    }

    /// The path of the state file, or a description of the store for error messages if the state isn't in a
    /// file.
    package var state: String {
        guard let store else { return file(".migrations.json") }
        return "document " + name.quoted + " in " + store
    }

    /// The path of the state file; `nil` if the state is not in a file.
    var path: String? { store == nil ? state : nil }
    var lock: String { file(".migrations.lock") }

    /// The path of the folder for a snapshot (the copies of protected files), without a number.
    ///
    /// If a snapshot that is marked as kept is still at this path, ``snapshotFolder()`` returns a path with a
    /// number at its end.
    var snapshot: String { file(Self.snapshotSuffix) }

    /// The path of the snapshot that is in use; `nil` if no snapshot is in use.
    ///
    /// For a migration that protects no files, and for a gate's start in which nothing is pending, this check
    /// is the only access to the file system that has to do with copies.
    func existingSnapshot() throws(SystemCallError) -> String? {
        let found = try snapshotInUseOrNext()
        return found.exists ? found.folder : nil
    }

    /// The path of the snapshot that is in use, or the path for a new one, where nothing exists.
    func snapshotFolder() throws(SystemCallError) -> String { try snapshotInUseOrNext().folder }

    /// The path of the snapshot that is in use, or the path for the next snapshot.
    ///
    /// Snapshots that are marked as kept are skipped. Copies that no restore needs any more, but that must
    /// not be deleted, are normally moved to another folder. If that move fails, the snapshot gets the mark
    /// instead, and stays here.
    private func snapshotInUseOrNext() throws(SystemCallError) -> (folder: String, exists: Bool) {
        var folder = snapshot
        var number = 2
        while true {
            let next = "\(snapshot)-\(number)"
            if try Platform.exists(at: folder) {
                if try !Platform.exists(at: folder + "/" + Self.keptMarker) { return (folder, true) }
            } else if try !Platform.exists(at: next) {
                return (folder, false)
            }
            // Continue even if this folder doesn't exist. Someone may have removed a snapshot that was marked
            // as kept, while a snapshot with a higher number is in use.
            folder = next
            number += 1
        }
    }

    /// The name of the manager to which a folder with this name belongs, if the folder is a snapshot;
    /// otherwise `nil`.
    ///
    /// There may be a number at the end of the folder's name.
    static func managerName(ofSnapshot name: String) -> String? {
        // Use the last occurrence of the suffix, because a manager's name may contain the same text.
        name.ranges(of: snapshotSuffix).last.map { String(name[..<$0.lowerBound]) }
    }

    /// The name of the entry that marks a snapshot as kept: this library never restores or removes its
    /// copies.
    static var keptMarker: String { "kept" }

    /// The folder to which copies are moved if their restore was abandoned or the manager's state was lost.
    ///
    /// The number distinguishes folders that are created in the same second.
    func keptCopies(from time: Int64, number: Int) -> String {
        movedAside("kept", time: time, number: number)
    }

    /// The path to which `forgetState` moves the state.
    func forgottenState(at time: Int64, number: Int) -> String {
        movedAside("forgotten", time: time, number: number)
    }

    private func movedAside(_ reason: String, time: Int64, number: Int) -> String {
        let time = Timestamp.text(time).filter { $0 != "-" && $0 != ":" }
        return file(".migrations.\(reason)-\(time)" + (number == 1 ? "" : "-\(number)"))
    }

    static var suffix: StaticString { ".migrations.json" }
    static var snapshotSuffix: String { ".migrations.snapshot" }

    /// The maximum length of a manager's name, in bytes.
    ///
    /// File systems allow names of up to 255 bytes, and the longest suffix that this library adds has about
    /// 40.
    package static var nameLimit: Int { 200 }

    private func file(_ suffix: String) -> String {
        directory + (directory.utf8.last == 0x2F ? "" : "/") + name + suffix
    }

    /// Refuses a manager's name that isn't safe as a part of a file name on all file systems.
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
            The manager's name \(name.quoted) can't be used. A name may contain A-Z, a-z, 0-9, dots, hyphens and underscores. It \
            must not be empty, begin with a dot or be longer than \(nameLimit) characters.
            """
        throw MigrationError(.invalidName, manager: name, text, advice: "Pass another name.")
    }

    /// Makes an error about this manager.
    ///
    /// The error's path is the path of the state, unless you pass another path. If `advice` isn't `nil`, the
    /// public function that throws the error has to call ``MigrationError/completed(by:)``, which adds the
    /// sentence about what that function left unchanged.
    @inline(never)
    package func error(
        _ code: MigrationError.Code,
        version: AppVersion? = nil,
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
    /// A start uses this function instead of ``state``, because this function doesn't allocate a `String`. A
    /// test checks that both make the same path.
    ///
    /// - Returns: The length including the NUL, or 0 if `buffer` is too short.
    func writePath(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        // The name's length was checked when the manager was created.
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
