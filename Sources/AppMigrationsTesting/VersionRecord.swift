import AppMigrations

/// The file of versions that were ever declared, one on each line.
///
/// Empty lines, and lines that begin with `#`, are passed over.
struct VersionRecord {
    let path: String
    let text: String
    let versions: [AppVersion]

    init(path: String) throws {
        self.path = path
        text = try FolderFiles.textIfThere(path) ?? ""
        versions = try text.split(whereSeparator: \.isNewline)
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            .map { line throws(MigrationError) in try AppVersion(parsing: line) }
    }

    func append(_ declared: [AppVersion]) throws {
        let new = declared.filter { !versions.contains($0) }
        guard !new.isEmpty else { return }
        let start = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
        try FolderFiles.write(start + new.map { "\($0)\n" }.joined(), to: path)
    }
}
