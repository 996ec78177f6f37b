/// For those who look at the disk from outside.
extension Disk {
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
    /// Whether the process that has the turn lives.
    public static var isAlive: Bool { !system.processes[current].isDead }
}
