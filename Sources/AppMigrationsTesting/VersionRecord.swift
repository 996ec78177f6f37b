import AppMigrations

/// A file that lists every version that was declared in any rehearsal, one on each line.
///
/// Empty lines, and lines that begin with `#`, are ignored.
struct VersionRecord {
    let path: String
    let text: String
    let versions: [AppVersion]

    init(path: String) throws {
        self.path = path
        text = try FolderFiles.textIfPresent(path) ?? ""
        versions = try text.split(whereSeparator: \.isNewline)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { line throws(MigrationError) in try AppVersion(parsing: line) }
    }

    func append(_ declared: [AppVersion]) throws {
        let new = declared.filter { !versions.contains($0) }
        guard !new.isEmpty else { return }
        try FolderFiles.write(text, appending: new.map(\.description), to: path)
    }
}
