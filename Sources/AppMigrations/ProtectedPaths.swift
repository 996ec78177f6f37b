/// The paths that `protecting:` names, made absolute and checked before anything is copied.
struct ProtectedPaths {
    private(set) var paths: [String] = []

    /// The same paths as seen from the state directory, for the intent: an app's folders can move as a whole between
    /// two starts, as they do on Apple's systems with an update, and the copies go back to where the data is now.
    private(set) var relatives: [String] = []

    init(_ named: [String], _ location: StateLocation, _ version: AppVersion) throws(MigrationError) {
        let stateFolder = try Self.canonical(location.directory, location, version)
        var canonicals: [(path: String, canonical: String)] = []
        for path in named {
            if path.isEmpty || path.utf8.contains(0) || path.hasPrefix("file:") {
                throw .unprotectable(path, "it is not the path of a file or folder", location, version)
            }
            let absolute = try Self.absolute(path, location, version)
            let canonical = try Self.canonical(absolute, location, version)
            if FileSnapshot.companions.contains(where: { Self.contains(canonical + $0, stateFolder) }) {
                throw .unprotectable(path, "the state directory is in it", location, version)
            }
            let own = [location.state, location.lock, location.snapshot, location.temporary]
            for file in own where Self.contains(try Self.canonical(file, location, version), canonical) {
                throw .unprotectable(path, "it belongs to the state", location, version)
            }
            canonicals.append((absolute, canonical))
        }
        for (index, candidate) in canonicals.enumerated() {
            let isInside = canonicals.enumerated().contains { other in
                other.offset != index && Self.contains(other.element.canonical, candidate.canonical)
                    && (other.element.canonical != candidate.canonical || other.offset < index)
            }
            if !isInside {
                paths.append(candidate.path)
                relatives.append(Self.relative(candidate.canonical, to: stateFolder))
            }
        }
    }

    private static func relative(_ path: String, to folder: String) -> String {
        var path = path.split(separator: "/")[...]
        var folder = folder.split(separator: "/")[...]
        while let first = path.first, first == folder.first, path.count > 1 {
            path.removeFirst()
            folder.removeFirst()
        }
        return (folder.map { _ in ".." } + path).joined(separator: "/")
    }

    /// Where an intent's path leads from a state directory without links.
    static func absolute(_ relative: String, from folder: String) -> String {
        var components = folder.split(separator: "/")
        for component in relative.split(separator: "/") {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
        return "/" + components.joined(separator: "/")
    }

    static func parent(_ path: String) -> String {
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func contains(_ folder: String, _ path: String) -> Bool {
        path == folder || path.hasPrefix(folder == "/" ? "/" : folder + "/")
    }

    private static func absolute(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> String {
        var path = path
        if !path.hasPrefix("/") {
            do throws(SystemCallError) {
                path = try Platform.workingDirectory() + "/" + path
            } catch {
                throw .protection(error, path, location, version, .taking)
            }
        }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// The path with the links of its folders resolved, but not itself: it is the link that would be protected.
    private static func canonical(
        _ path: String,
        _ location: StateLocation,
        _ version: AppVersion
    ) throws(MigrationError) -> String {
        let last = path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]
        if last.isEmpty { return "/" }
        if last == "." || last == ".." { throw .unprotectable(path, "it ends in a dot", location, version) }
        var folder = parent(path)
        var missing: [Substring] = []
        while true {
            do throws(SystemCallError) {
                let resolved = try Platform.resolved(folder)
                return ([resolved == "/" ? "" : resolved] + missing.map(String.init) + [String(last)])
                    .joined(separator: "/")
            } catch {
                // A folder that isn't there yet can't be a link.
                guard error.errorNumber == Platform.noEntry, folder != "/" else {
                    throw .protection(error, path, location, version, .taking)
                }
                missing.insert(
                    folder[folder.index(after: folder.lastIndex(of: "/") ?? folder.startIndex)...],
                    at: 0
                )
                folder = parent(folder)
            }
        }
    }
}
