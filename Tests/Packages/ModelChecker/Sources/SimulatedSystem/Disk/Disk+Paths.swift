/// Paths, which are absolute here or begin at an open folder.
extension Disk {
    /// Where a path leads: the folder that its last name is in, that name, and what has it.
    struct Place {
        let folder: Int
        let name: Name
        let node: Int?
    }

    /// A path as the numbers of its names.
    private final class Parts {
        let isAbsolute: Bool
        let isFolder: Bool
        let names: [Name]

        nonisolated(unsafe) private static var known: [String: Parts] = [:]

        static func of(_ path: String) -> Parts {
            if let parts = known[path] { return parts }
            let parts = Parts(path)
            known[path] = parts
            return parts
        }

        private init(_ path: String) {
            isAbsolute = path.utf8.first == 0x2F
            isFolder = path.utf8.last == 0x2F
            names = path.split(separator: "/").map { Names.number(String($0)) }
        }
    }

    static let dot = Names.number(".")
    static let dotDot = Names.number("..")

    func place(_ path: String, from start: Int, following: Bool) throws(Refusal) -> Place {
        try place(path, from: start, following: following, links: 0)
    }

    private func place(
        _ path: String,
        from start: Int,
        following: Bool,
        links: Int
    ) throws(Refusal) -> Place {
        if links > 8 { throw Refusal(ELOOP) }
        if path.isEmpty { throw Refusal(ENOENT) }
        let parts = Parts.of(path)
        var folder = parts.isAbsolute ? Self.root : start
        guard let name = parts.names.last else {
            return Place(folder: folder, name: Self.dot, node: folder)
        }
        for name in parts.names.dropLast() { folder = try enter(name, folder, links) }
        guard try node(folder).kind == .folder else { throw Refusal(ENOTDIR) }
        Machine.touch(.name(folder, name), UInt64(nodes[folder]?.find(name) ?? 0))
        let found = try step(name, folder)
        if let found, try node(found).kind == .link, following || parts.isFolder {
            let target = String(decoding: try node(found).content.bytes, as: UTF8.self)
            return try place(target, from: folder, following: true, links: links + 1)
        }
        return Place(folder: folder, name: name, node: found)
    }

    private func enter(_ name: Name, _ folder: Int, _ links: Int) throws(Refusal) -> Int {
        Machine.touch(.name(folder, name), UInt64(nodes[folder]?.find(name) ?? 0))
        guard let found = try step(name, folder) else { throw Refusal(ENOENT) }
        let node = try node(found)
        if node.kind != .link { return found }
        let target = String(decoding: node.content.bytes, as: UTF8.self)
        guard let next = try place(target, from: folder, following: true, links: links + 1).node else {
            throw Refusal(ENOENT)
        }
        return next
    }

    private func step(_ name: Name, _ folder: Int) throws(Refusal) -> Int? {
        let node = try node(folder)
        if node.kind != .folder { throw Refusal(ENOTDIR) }
        if name == Self.dot { return folder }
        if name == Self.dotDot { return node.above }
        return node.find(name)
    }

    /// The file at an absolute path, links followed; `nil` where nothing stands.
    public func find(_ path: String) -> Int? {
        do throws(Refusal) {
            return try place(path, from: Self.root, following: true).node
        } catch {
            return nil
        }
    }

    /// The bytes of the file at an absolute path; `nil` where there is none.
    public func content(_ path: String) -> Content? {
        guard let number = find(path), let node = nodes[number], node.kind == .file else { return nil }
        return node.content
    }

    /// The path of a folder or file, for texts.
    func path(_ number: Int) -> String {
        if number == Self.root { return "/" }
        for (folder, node) in nodes.enumerated() {
            guard let entry = node?.entries.first(where: { $0.node == number }) else { continue }
            let above = path(folder)
            return (above == "/" ? "/" : above + "/") + Names.text(entry.name)
        }
        return "(a file without a name)"
    }
}
