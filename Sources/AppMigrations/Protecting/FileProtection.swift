/// The paths that `protecting:` names, made absolute and checked before anything is copied.
struct FileProtection {
    struct Path {
        let absolute: String

        /// The same path without links in the folders above.
        let canonical: String

        /// The same path as seen from the state directory, for the intent: an app's folders can move as a whole between
        /// two starts, as they do on Apple's systems with an update, and the copies go back to where the data is now.
        let relative: String
    }

    private(set) var paths: [Path] = []

    /// The state directory without links.
    let stateFolder: String
    let location: StateLocation

    /// Taken before anything was copied.
    let lock: FileLock

    /// Stands while the closure may run.
    var claim: SnapshotClaim?

    init(_ named: [String], _ location: StateLocation, _ lock: FileLock) throws(ProtectionFailure) {
        self.location = location
        self.lock = lock
        // The directory may be named by a link, or with a slash at its end. A restore counts the paths from its real path.
        do throws(SystemCallError) {
            stateFolder = try Platform.resolved(location.directory)
        } catch {
            throw .failed(error, location.directory, .taking)
        }
        var candidates: [(path: String, canonical: String)] = []
        for path in named {
            if path.isEmpty || path.utf8.contains(0) || path.hasPrefix("file:") {
                throw .unprotectable(path, "it is not the path of a file or folder")
            }
            let absolute = try Self.leading(try Self.absolute(path), from: path)
            let canonical = try Self.canonical(absolute)
            if FileSnapshot.companions.contains(where: { FilePaths.contains(canonical + $0, stateFolder) }) {
                throw .unprotectable(path, "the state directory is in it")
            }
            let own = [location.state, location.lock, location.snapshot, location.temporary]
            for file in own where FilePaths.contains(try Self.canonical(file), canonical) {
                throw .unprotectable(path, "it belongs to the state")
            }
            try Self.refuseEncoded(absolute)
            candidates.append((absolute, canonical))
        }
        var first: [[UInt8]: Int] = [:]
        for (index, candidate) in candidates.enumerated().reversed() {
            first[Array(candidate.canonical.utf8)] = index
        }
        for (index, candidate) in candidates.enumerated() {
            let bytes = Array(candidate.canonical.utf8)
            let isInside = bytes.indices.contains {
                bytes[$0] == 0x2F && first[Array(bytes.prefix($0))] != nil
            }
            if !isInside, first[bytes] == index {
                paths.append(
                    Path(
                        absolute: candidate.path,
                        canonical: candidate.canonical,
                        relative: FilePaths.relative(candidate.canonical, to: stateFolder)
                    )
                )
            }
        }
        // The state has a limit of size, and a long list would drive out its history.
        let size = paths.reduce(0) { $0 + $1.relative.quoted.utf8.count + 2 }
        if size > Self.listLimit {
            throw .tooManyPaths(paths.count, size: size, limit: Self.listLimit, in: location.state)
        }
    }

    private static var listLimit: Int { StateFile.sizeLimit / 4 }

    /// Refuses the path of a `URL` that still has its escapes: nothing stands there, so nothing would be copied, and what
    /// appears there would be removed.
    private static func refuseEncoded(_ path: String) throws(ProtectionFailure) {
        let part: String?
        do throws(SystemCallError) {
            part = try FilePaths.missingWithEscapes(path)
        } catch {
            throw .failed(error, path, .taking)
        }
        guard let part else { return }
        let reason: Message =
            "it has the escapes of a URL, and \(part) isn't there: take path(percentEncoded: false) of the URL"
        throw .unprotectable(path, reason)
    }

    /// The path that `named` stands for: a slash at the end of a link's name makes it that of the folder which the link
    /// leads to (POSIX, 4.13 Pathname Resolution).
    private static func leading(_ path: String, from named: String) throws(ProtectionFailure) -> String {
        if named.utf8.last != 0x2F { return path }
        return try ProtectionFailure.explaining(.taking, at: path) {
            guard try FileTree.status(path)?.kind == .link else { return path }
            // The slash makes the system refuse everything but a folder.
            return try FileTree.at(path + "/", call: Platform.resolved)
        }
    }

    private static func absolute(_ path: String) throws(ProtectionFailure) -> String {
        var path = path
        if path.utf8.first != 0x2F {
            do throws(SystemCallError) {
                path = try Platform.workingDirectory() + "/" + path
            } catch {
                throw .failed(error, path, .taking)
            }
        }
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == 0x2F { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path with the links of its folders resolved, but not its last part: if that is a link, the link itself is protected.
    private static func canonical(_ path: String) throws(ProtectionFailure) -> String {
        let last = FilePaths.last(path)
        if last.isEmpty { return "/" }
        if last == "." || last == ".." { throw .unprotectable(path, "it ends in a dot") }
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
                    throw .failed(error, path, .taking)
                }
                let name = FilePaths.last(folder)
                // Such a path can't be resolved before the folder is there, and a restore would remove whatever is there by then.
                if name == "." || name == ".." {
                    throw .unprotectable(path, "it leads through a folder that is not there")
                }
                if !name.isEmpty { missing.insert(name, at: 0) }
                folder = FilePaths.parent(folder)
            }
        }
    }
}
