/// The paths that `protecting:` names, without links, checked before anything is copied.
struct ProtectedPaths {
    /// Absolute, without links in the folders above, and none inside of another.
    private(set) var paths: [String] = []

    /// The state directory without links.
    let stateFolder: String

    private let location: StateLocation
    private let version: AppVersion

    /// - Throws: ``MigrationError``, or a ``SystemCallError`` with its path.
    init(_ named: [String], _ location: StateLocation, _ version: AppVersion) throws {
        self.location = location
        self.version = version
        // The directory may be named by a link, or with a slash at its end. A restore counts the paths from its real path.
        stateFolder = try Platform.resolved(location.directory)
        if let owner = try Platform.owner(unlikeRoot: stateFolder) {
            throw refusal(
                of: location.directory,
                "it belongs to user \(Int(owner)), and this process is root's"
            )
        }
        let all = try named.map(canonical)
        let known = Set(all.map { Array($0.utf8) })
        var taken: Set<[UInt8]> = []
        for path in all where taken.insert(Array(path.utf8)).inserted {
            var above = path
            repeat {
                above = FilePaths.parent(above)
            } while above != "/" && !known.contains(Array(above.utf8))
            if above == "/" { paths.append(path) }
        }
    }

    /// The path with the links of its folders resolved, but not its last part: if that is a link, the link itself is protected.
    private func canonical(_ named: String) throws -> String {
        if named.isEmpty || named.utf8.contains(0) || named.hasPrefix("file:") {
            throw refusal(of: named, "it is not the path of a file or folder")
        }
        var path = named.utf8.first == 0x2F ? named : try Platform.workingDirectory() + "/" + named
        // A slash at the end of a link's name makes it that of the folder which the link leads to (POSIX, 4.13 Pathname
        // Resolution).
        let isFolder = path.utf8.last == 0x2F
        while path.utf8.count > 1, path.utf8.last == 0x2F { path.removeLast() }
        if isFolder, try Platform.status(path)?.kind == .link { path = try Platform.resolved(path + "/") }
        let last = FilePaths.last(path)
        if last == "." || last == ".." { throw refusal(of: named, "it ends in a dot") }
        var folder = FilePaths.parent(path)
        var missing: [String] = []
        while folder != "/", try Platform.status(folder) == nil {
            let name = FilePaths.last(folder)
            // Such a path can't be resolved before the folder is there, and a restore would remove whatever is there by then.
            if name == "." || name == ".." {
                throw refusal(of: named, "it leads through a folder that is not there")
            }
            if !name.isEmpty { missing.insert(name, at: 0) }
            folder = FilePaths.parent(folder)
        }
        let resolved = try Platform.resolved(folder)
        let canonical = ([resolved == "/" ? "" : resolved] + missing + [last]).joined(separator: "/")
        try check(canonical, named)
        return canonical
    }

    private func check(_ path: String, _ named: String) throws {
        for companion in Snapshot.companions where try Snapshot.holds(path + companion, stateFolder) {
            throw refusal(of: named, "the state directory is in it")
        }
        // What begins so are the state, its lock and its snapshots.
        let own = (stateFolder == "/" ? "" : stateFolder) + "/" + location.name + ".migrations."
        if path.utf8.starts(with: own.utf8) { throw refusal(of: named, "it belongs to the state") }
        let folder = FilePaths.parent(path)
        for place in [folder, path] {
            guard let owner = try Platform.owner(unlikeRoot: place) else { continue }
            throw refusal(of: named, "\(place) belongs to user \(Int(owner)), and this process is root's")
        }
        // What is in a folder can be put back one by one; a file needs the folder that it is in.
        let isFolder = try Platform.status(path)?.kind == .directory
        if !isFolder, try Platform.status(folder) != nil, try !Platform.mayWrite(folder) {
            throw refusal(of: named, "this user may not write to \(folder)")
        }
        if let part = try FilePaths.missingWithEscapes(path) {
            throw refusal(
                of: named,
                "it has the escapes of a URL, and \(part) isn't there: take path(percentEncoded: false) of the URL"
            )
        }
    }

    /// The error for a path that can't be protected.
    func refusal(of path: String, _ reason: Message) -> MigrationError {
        let reason: Message = "\(path.quoted) can't be protected, since \(reason)"
        return location.protection(.taking, version, at: path, reason)
    }
}
