/// The content of the file `list` in a snapshot: the protected paths, with facts about each path.
///
/// A restore compares these facts with the current ones before it uses the path.
struct SnapshotList {
    struct Path {
        /// The path relative to the state directory.
        ///
        /// An app's folders can move as a whole between two starts: on Apple's systems, an update of the app
        /// does that. With a relative path, the copies are restored to where the data is after the move.
        var relative: String

        /// The identity of the item at the path; `nil` if nothing was there.
        ///
        /// It shows whether another path leads to the same item.
        var identity: FileIdentity?

        /// The number of steps up to the nearest mount point.
        ///
        /// See ``ProtectedPaths/mountDistance(of:upTo:)``.
        var mountDistance: Int

        /// The identities of the folders above the path, the nearest first.
        ///
        /// The last element is the nearest folder that also contains the state directory. An element is `nil`
        /// if that folder didn't exist.
        ///
        /// The identities show whether the files were moved together with the state. The identity of the item
        /// at the path can't show that: a closure may replace a file, and the new file has another identity.
        var folders: [FileIdentity?]
    }

    private static var sizeLimit: Int { 64 << 20 }

    /// The name of the manager.
    var manager: String

    /// The path of the state directory when the copies were made, with links resolved.
    var stateFolder: String

    /// The folder that contains the copies and this list.
    var snapshot: FileIdentity

    var paths: [Path]

    /// The content of the file.
    ///
    /// The fields are separated by NUL characters, because a path can't contain one.
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

    /// The absolute paths of the protected items, in the order of ``paths``.
    ///
    /// `stateFolder` is the state directory where it is now, with links resolved.
    func places(from stateFolder: String) -> [String] {
        paths.map { FilePaths.absolute($0.relative, from: stateFolder) }
    }
}

extension SnapshotList {
    /// Reads the format that ``text`` returns; `nil` for any other input.
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
        // An identity that can't be read became `nil` above. So the list is encoded again and compared with
        // the input.
        if self.text != text { return nil }
    }

    /// Reads the list of the snapshot in `folder`; `nil` if there is no list, or it is damaged.
    static func read(in folder: String) throws(SystemCallError) -> SnapshotList? {
        let content = try Platform.ignoringMissing(
            Platform.contents(ofFile: folder + "/list", limit: Self.sizeLimit)
        )
        return content?.flatMap { SnapshotList($0) }
    }
}

extension FileIdentity {
    /// The identity as it is written in a list: two numbers with a dot between them.
    fileprivate var text: String { "\(device).\(file)" }

    /// Reads the format that ``text`` returns; `nil` for any other input.
    fileprivate init?(_ text: String) {
        let numbers = FilePaths.split(Array(text.utf8), at: 0x2E)
        guard numbers.count == 2, let device = UInt64(numbers[0]), let file = UInt64(numbers[1]) else {
            return nil
        }
        self.init(device: device, file: file)
    }
}
