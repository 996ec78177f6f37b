/// The paths in a snapshot, with what a restore checks before it trusts them: the content of the snapshot's
/// file `list`.
struct SnapshotList {
    struct Path {
        /// The path as seen from the state directory.
        ///
        /// An app's folders can move as a whole between two starts. On Apple's systems an update does that.
        /// So the copies are restored to where the data is now.
        var relative: String

        /// The identity of the item at the path, by which it is recognized under any other name; `nil` if
        /// nothing was there.
        var identity: FileIdentity?

        /// Where on the way to the path a file system is mounted, as
        /// ``ProtectedPaths/mountDistance(of:upTo:)`` returns it.
        var mountDistance: Int

        /// The folders above the path, the nearest first, up to the one that contains the state directory
        /// too; `nil` for a folder that didn't exist.
        ///
        /// They show whether the files were moved together with the state. The item at the path itself
        /// doesn't: a closure may write a file by replacing it, and then it has another identity.
        var folders: [FileIdentity?]
    }

    private static var sizeLimit: Int { 64 << 20 }

    /// The name of the manager.
    var manager: String

    /// The state directory without links, as it was when the copies were made.
    var stateFolder: String

    /// The folder that contains the copies and this list.
    var snapshot: FileIdentity

    var paths: [Path]

    /// The content of the file.
    ///
    /// NUL separates the fields, because no path contains it.
    var text: [UInt8] {
        var fields = ["1", manager, stateFolder, snapshot.text]
        for path in paths {
            fields.append(path.relative)
            fields.append(String(path.mountDistance))
            fields.append(path.identity?.text ?? "")
            fields.append(path.folders.map { $0?.text ?? "" }.joined(separator: ","))
        }
        return Array(fields.joined(separator: "\0").utf8)
    }

    /// The absolute paths, for a state directory without links.
    func places(from stateFolder: String) -> [String] {
        paths.map { FilePaths.absolute($0.relative, from: stateFolder) }
    }
}

extension SnapshotList {
    /// Reads what ``text`` returns; `nil` for anything else.
    init?(_ text: [UInt8]) {
        let fields = FilePaths.split(text, at: 0)
        guard fields.count % 4 == 0, fields.count >= 4, let snapshot = FileIdentity(fields[3]) else {
            return nil
        }
        manager = fields[1]
        stateFolder = fields[2]
        self.snapshot = snapshot
        paths = []
        for index in stride(from: 4, to: fields.count, by: 4) {
            guard let mountDistance = Int(fields[index + 1]), mountDistance >= 0 else { return nil }
            let folders = FilePaths.split(Array(fields[index + 3].utf8), at: 0x2C)
            let path = Path(
                relative: fields[index],
                identity: FileIdentity(fields[index + 2]),
                mountDistance: mountDistance,
                folders: folders.map { FileIdentity($0) }
            )
            paths.append(path)
        }
        // An identity that can't be read became `nil` above. Writing the list again shows that.
        if self.text != text { return nil }
    }

    /// Reads the list of the snapshot in `folder`; `nil` if it doesn't exist, or if this library didn't write
    /// it.
    static func read(in folder: String) throws(SystemCallError) -> SnapshotList? {
        let content = try Platform.ignoringMissing(
            Platform.contents(ofFile: folder + "/list", limit: Self.sizeLimit)
        )
        return content?.flatMap { SnapshotList($0) }
    }
}

extension FileIdentity {
    /// The identity as a list writes it: two numbers and a dot.
    fileprivate var text: String { "\(device).\(file)" }

    /// Reads what ``text`` returns; `nil` for anything else.
    fileprivate init?(_ text: String) {
        let numbers = FilePaths.split(Array(text.utf8), at: 0x2E)
        guard numbers.count == 2, let device = UInt64(numbers[0]), let file = UInt64(numbers[1]) else {
            return nil
        }
        self.init(device: device, file: file)
    }
}
