/// The contents of a snapshot, and where they belong: the text of the file `list` in its folder.
struct SnapshotList {
    struct Path {
        /// As seen from the state directory: an app's folders can move as a whole between two starts, as they do on Apple's
        /// systems with an update, and the copies go back to where the data is now.
        var relative: String

        /// It is known by this under any other name; `nil` if nothing was there.
        var identity: FileIdentity?

        /// Where something is mounted on the way to it, as ``ProtectedPaths/mount(above:upTo:)`` says.
        var mount: Int

        /// The folders above the path, the nearest first, up to the one that holds the state directory too; `nil` for a folder that
        /// wasn't there.
        ///
        /// They tell whether the files were moved together with the state. The path itself may be another file by now, since a
        /// closure may write a file by replacing it.
        var folders: [FileIdentity?]
    }

    private static var sizeLimit: Int { 64 << 20 }

    var manager: String
    /// The state directory without links, as it was when the copies were made.
    var stateFolder: String
    /// The folder that holds the copies and this list.
    var snapshot: FileIdentity
    var paths: [Path]

    /// No path has a NUL, so it divides the fields.
    var text: [UInt8] {
        var fields = ["1", manager, stateFolder, snapshot.text]
        for path in paths {
            fields.append(path.relative)
            fields.append(String(path.mount))
            fields.append(path.identity?.text ?? "")
            fields.append(path.folders.map { $0?.text ?? "" }.joined(separator: ","))
        }
        return Array(fields.joined(separator: "\0").utf8)
    }

    /// Where the paths lead from a state directory without links.
    func places(from folder: String) -> [String] {
        paths.map { FilePaths.absolute($0.relative, from: folder) }
    }
}

extension SnapshotList {
    /// `nil` for anything that ``text`` doesn't return.
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
            guard let mount = Int(fields[index + 1]), mount >= 0 else { return nil }
            let folders = FilePaths.split(Array(fields[index + 3].utf8), at: 0x2C)
            let path = Path(
                relative: fields[index],
                identity: FileIdentity(fields[index + 2]),
                mount: mount,
                folders: folders.map { FileIdentity($0) }
            )
            paths.append(path)
        }
        // A number that can't be read, or a field that was left out, comes out as another text.
        if self.text != text { return nil }
    }

    /// Reads the list of the snapshot in `folder`; `nil` if there is none, or if it isn't what this library writes.
    static func read(in folder: String) throws(SystemCallError) -> SnapshotList? {
        let contents = try Platform.unless(
            Platform.absent,
            Platform.contents(ofFile: folder + "/list", limit: Self.sizeLimit)
        )
        return contents?.flatMap { SnapshotList($0) }
    }
}

extension FileIdentity {
    /// The text in a list.
    fileprivate var text: String { "\(device).\(file)" }

    /// `nil` for anything that isn't two numbers.
    fileprivate init?(_ text: String) {
        let numbers = FilePaths.split(Array(text.utf8), at: 0x2E)
        guard numbers.count == 2, let device = UInt64(numbers[0]), let file = UInt64(numbers[1]) else {
            return nil
        }
        self.init(device: device, file: file)
    }
}
