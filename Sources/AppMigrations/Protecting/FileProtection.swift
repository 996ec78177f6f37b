/// The paths that `protecting:` names, made absolute and checked before anything is copied.
struct FileProtection {
    private(set) var paths: [String] = []

    /// The same paths as seen from the state directory, for the intent: an app's folders can move as a whole between
    /// two starts, as they do on Apple's systems with an update, and the copies go back to where the data is now.
    private(set) var relatives: [String] = []

    /// The same paths, and the state directory, without links.
    private(set) var canonicals: [String] = []
    let stateFolder: String

    init(_ named: [String], _ location: StateLocation, _ version: AppVersion) throws(MigrationError) {
        // As a restore sees it, which counts the paths from here: itself a link, or written with a slash at its end.
        do throws(SystemCallError) {
            stateFolder = try Platform.resolved(location.directory)
        } catch {
            throw .protection(error, location.directory, location, version, .taking)
        }
        var canonicals: [(path: String, canonical: String)] = []
        for path in named {
            if path.isEmpty || path.utf8.contains(0) || path.hasPrefix("file:") {
                throw .unprotectable(path, "it is not the path of a file or folder", location, version)
            }
            let absolute = try Self.leading(
                try Self.absolute(path, location, version),
                from: path,
                location,
                version
            )
            let canonical = try Self.canonical(absolute, location, version)
            if FileSnapshot.companions.contains(where: { FilePaths.contains(canonical + $0, stateFolder) }) {
                throw .unprotectable(path, "the state directory is in it", location, version)
            }
            let own = [location.state, location.lock, location.snapshot, location.temporary]
            for file in own where FilePaths.contains(try Self.canonical(file, location, version), canonical) {
                throw .unprotectable(path, "it belongs to the state", location, version)
            }
            try Self.refuseEncoded(absolute, location, version)
            canonicals.append((absolute, canonical))
        }
        var first: [[UInt8]: Int] = [:]
        for (index, candidate) in canonicals.enumerated().reversed() {
            first[Array(candidate.canonical.utf8)] = index
        }
        for (index, candidate) in canonicals.enumerated() {
            let bytes = Array(candidate.canonical.utf8)
            let isInside = bytes.indices.contains {
                bytes[$0] == 0x2F && first[Array(bytes.prefix($0))] != nil
            }
            if !isInside, first[bytes] == index {
                paths.append(candidate.path)
                self.canonicals.append(candidate.canonical)
                relatives.append(FilePaths.relative(candidate.canonical, to: stateFolder))
            }
        }
        // A state has a limit of size, and its history is not to go for the sake of a list.
        let size = relatives.reduce(0) { $0 + $1.quoted.utf8.count + 2 }
        if size > Self.listLimit {
            throw .tooManyPaths(relatives.count, size: size, limit: Self.listLimit, location, version)
        }
    }

    private static var listLimit: Int { StateFile.sizeLimit / 4 }

    /// Refuses the path of a `URL` that still has its escapes: nothing stands there, so nothing would be copied, and what
    /// appears there would be removed.
    private static func refuseEncoded(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) {
        guard let decoded = PercentEncoding.decoded(path) else { return }
        let stands: (String) throws(MigrationError) -> Bool = { path throws(MigrationError) in
            do {
                return try FileTree.status(path) != nil
            } catch {
                throw .protection(error, path, location, version, .taking)
            }
        }
        if try stands(path) { return }
        if try !stands(decoded) { return }
        let reason: Message =
            "it is percent-encoded, and \(decoded) is what stands there: of a URL take path(percentEncoded: false)"
        throw .unprotectable(path, reason, location, version)
    }

    /// The path that `named` stands for: a slash at the end of a link's name makes it that of the folder which the link
    /// leads to (POSIX, 4.13 Pathname Resolution).
    private static func leading(
        _ path: String,
        from named: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> String {
        if named.utf8.last != 0x2F { return path }
        do {
            guard try FileTree.status(path)?.kind == .link else { return path }
            // With its slash, so that the system refuses what is no folder.
            let folder = path + "/"
            return try FileTree.at(folder) { () throws(SystemCallError) in try Platform.resolved(folder) }
        } catch let failure as FileTree.Failure {
            throw .protection(failure.cause, failure.path, location, version, .taking)
        } catch {
            throw .protection(error, path, location, version, .taking)
        }
    }

    private static func absolute(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> String {
        var path = path
        if path.utf8.first != 0x2F {
            do throws(SystemCallError) {
                path = try Platform.workingDirectory() + "/" + path
            } catch {
                throw .protection(error, path, location, version, .taking)
            }
        }
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == 0x2F { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path with the links of its folders resolved, but not itself: it is the link that would be protected.
    private static func canonical(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> String {
        let last = FilePaths.last(path)
        if last.isEmpty { return "/" }
        if last == "." || last == ".." { throw .unprotectable(path, "it ends in a dot", location, version) }
        var folder = FilePaths.parent(path)
        var missing: [String] = []
        while true {
            do throws(SystemCallError) {
                let resolved = try Platform.resolved(folder)
                return ([resolved == "/" ? "" : resolved] + missing + [last])
                    .joined(separator: "/")
            } catch {
                // A folder that isn't there yet can't be a link.
                guard error.errorNumber == Platform.noEntry, folder != "/" else {
                    throw .protection(error, path, location, version, .taking)
                }
                let name = FilePaths.last(folder)
                // Where it leads can't be known before the folder is there, and a restore would remove what is there then.
                if name == "." || name == ".." {
                    throw .unprotectable(
                        path,
                        "it leads through a folder that is not there",
                        location,
                        version
                    )
                }
                if !name.isEmpty { missing.insert(name, at: 0) }
                folder = FilePaths.parent(folder)
            }
        }
    }
}
