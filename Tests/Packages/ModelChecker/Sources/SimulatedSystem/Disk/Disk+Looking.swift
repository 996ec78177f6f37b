/// For those who look at the disk from outside.
extension Disk {
    /// Makes a folder that is the root of another file system.
    public mutating func mount(_ name: String, in path: String) {
        guard let folder = find(path) else { return }
        let device = nodes.reduce(1) { max($0, ($1?.device ?? 0) + 1) }
        _ = make(.folder, mode: 0o700, Names.number(name), in: folder, device: device)
    }

    public func names(in path: String) -> [String] {
        guard let number = find(path) else { return [] }
        return nodes[number]?.entries.map { Names.text($0.name) }.sorted() ?? []
    }

    /// Every file with its path and size, one a line.
    public var listing: [String] {
        nodes.indices.compactMap { number in
            guard number > Self.root, let node = nodes[number] else { return nil }
            return "  left: \(path(number)), \(node.kind) of \(node.content.bytes.count) bytes"
        }
    }
}

extension Machine {
    /// True if the process that has the turn lives.
    public static var isAlive: Bool { !system.processes[current].isDead }
}
