import AppMigrations

/// What a closure with `replacing:` changed in the original, although it should only change the copy.
struct ChangedOriginal: Sendable {
    let version: AppVersion
    /// The name of the file or folder that is replaced.
    let name: String
    /// The first difference from how it was, as a clause.
    let difference: String

    /// Compares the file or folder at `path` with the copy that was kept of it.
    ///
    /// Returns `nil` if they are equal, also if neither exists.
    init?(at path: String, comparedWith copy: String, by version: AppVersion) throws {
        guard let difference = try Self.difference(at: path, comparedWith: copy) else { return nil }
        self.version = version
        name = String(path.split(separator: "/").last ?? "")
        self.difference = difference
    }

    private static func difference(at path: String, comparedWith copy: String) throws -> String? {
        switch (try FolderFiles.entryIfPresent(copy), try FolderFiles.entryIfPresent(path)) {
        case (nil, nil): return nil
        case (nil, _): return "it exists, but shouldn't"
        case (_, nil): return "it is missing"
        case (.folder, .folder):
            return try FolderComparison(rules: []).differences(of: path, from: copy).first?.text
        case (.file, .file):
            return try FolderFiles.read(path) == FolderFiles.read(copy) ? nil : "its content differs"
        case (let before?, let after?):
            return before == after ? nil : "it is \(after) instead of \(before)"
        }
    }
}
