/// What a snapshot holds, and where it belongs: the text of the file `list` in its folder.
struct SnapshotList: Equatable {
    struct Path: Equatable {
        /// As seen from the state directory: an app's folders can move as a whole between two starts, as they do on Apple's
        /// systems with an update, and the copies go back to where the data is now.
        var relative: String

        /// What stands there is known by it under any other name; `nil` where nothing stands.
        var identity: FileIdentity?

        /// Whether it is on another file system than the state.
        var isElsewhere: Bool
    }

    var manager: String
    /// The state directory without links, as it was when the copies were made.
    var stateFolder: String
    var paths: [Path]

    /// No path has a NUL, so it divides the fields.
    var text: [UInt8] {
        var fields = ["1", manager, stateFolder]
        for path in paths {
            fields += [path.relative, path.isElsewhere ? "elsewhere" : "here"]
            fields += path.identity.map { ["\($0.device)", "\($0.file)"] } ?? ["", ""]
        }
        return Array(fields.joined(separator: "\0").utf8)
    }

    init(manager: String, stateFolder: String, paths: [Path]) {
        (self.manager, self.stateFolder, self.paths) = (manager, stateFolder, paths)
    }

    /// `nil` for what ``text`` doesn't give.
    init?(_ text: [UInt8]) {
        var fields: [String] = []
        for field in text.split(separator: 0, omittingEmptySubsequences: false) {
            guard let field = String(validUTF8: Array(field)) else { return nil }
            fields.append(field)
        }
        guard fields.count >= 3, fields[0] == "1", (fields.count - 3) % 4 == 0 else { return nil }
        (manager, stateFolder) = (fields[1], fields[2])
        paths = []
        for index in stride(from: 3, to: fields.count, by: 4) {
            var identity: FileIdentity?
            if let device = UInt64(fields[index + 2]), let file = UInt64(fields[index + 3]) {
                identity = FileIdentity(device: device, file: file)
            }
            paths.append(
                Path(
                    relative: fields[index],
                    identity: identity,
                    isElsewhere: fields[index + 1] == "elsewhere"
                )
            )
        }
    }

    /// Where the paths lead from a state directory without links.
    func places(from folder: String) -> [String] {
        paths.map { FilePaths.absolute($0.relative, from: folder) }
    }

    /// Reads the list of the snapshot in `folder`; `nil` where there is none.
    static func read(in folder: String) throws(SystemCallError) -> SnapshotList? {
        let path = folder + "/" + name
        do throws(SystemCallError) {
            guard let text = try Platform.contents(ofFile: path, limit: sizeLimit),
                let list = SnapshotList(text)
            else { throw Platform.unsupported(path) }
            return list
        } catch {
            if error.isAbsent { return nil }
            throw error.at(path)
        }
    }

    static var name: String { "list" }

    private static var sizeLimit: Int { 64 << 20 }
}
