/// The paths of a manager's files: the state and the lock, which are in one directory.
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

    package init(name: String, directory: String, store: String? = nil) {
        self.name = name
        self.directory = directory
        self.store = store
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

    /// The path to which `forgetState` moves the state.
    ///
    /// The number distinguishes states that are moved in the same second.
    func forgottenState(at time: Int64, number: Int) -> String {
        let time = Timestamp.text(time).filter { $0 != "-" && $0 != ":" }
        return file(".migrations.forgotten-\(time)" + (number == 1 ? "" : "-\(number)"))
    }

    static var suffix: StaticString { ".migrations.json" }

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
    /// The error's path is the path of the state, unless you pass another path.
    @inline(never)
    package func error(
        _ code: MigrationError.Code,
        version: AppVersion? = nil,
        at path: String? = nil,
        because cause: (any Error)? = nil,
        isTransient: Bool = false,
        _ problem: Message,
        unchanged: MigrationError.Unchanged? = nil,
        advice: Message? = nil
    ) -> MigrationError {
        MigrationError(
            code,
            manager: name,
            version: version,
            path: path ?? self.path,
            underlying: cause,
            isTransient: isTransient,
            problem,
            unchanged: unchanged,
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
