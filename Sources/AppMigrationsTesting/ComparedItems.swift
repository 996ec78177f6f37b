/// The items in a folder with an app's data, without the state files of managers.
struct ComparedItems {
    private let entries: [String: FolderFiles.Entry]
    /// The folders that contain state files and none of the app's data.
    private let stateFolders: Set<String>

    init(in folder: String) throws {
        let all = try FolderFiles.entries(in: folder)
        entries = all.filter { !StateFileName.isInPath($0.key) }
        let candidates = Self.folders(around: all.keys.filter(StateFileName.isInPath))
        stateFolders = candidates.subtracting(
            Self.folders(around: entries.keys.filter { !candidates.contains($0) })
        )
    }

    /// The items to compare with those of another folder.
    ///
    /// A folder that was created only for the state is left out, if the other folder has no item of its name.
    func entries(comparedWith other: ComparedItems) -> [String: FolderFiles.Entry] {
        entries.filter { other.entries[$0.key] != nil || !stateFolders.contains($0.key) }
    }

    /// All folders that contain one of the items, directly or in a subfolder.
    private static func folders(around paths: [String]) -> Set<String> {
        var folders: Set<String> = []
        for path in paths {
            var rest = path[...]
            while let slash = rest.lastIndex(of: "/") {
                rest = rest[..<slash]
                folders.insert(String(rest))
            }
        }
        return folders
    }
}
