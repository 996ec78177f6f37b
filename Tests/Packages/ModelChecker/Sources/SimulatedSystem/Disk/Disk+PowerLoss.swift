/// A power loss leaves the synced changes, and any part of the others.
///
/// Names and bytes are lost apart, as on ext4, xfs and btrfs. A rename happens wholly or not at all, and so do both halves of
/// a move between folders. No file is lost by a move, into a folder that was lost or after an earlier one that was: what
/// depends on a change is lost with it. Permissions are not lost.
extension Disk {
    /// Beyond so many changes or files not every subset is tried: then the changes are lost from some point on, or one alone is.
    private static var subsetLimit: Int { 6 }

    /// Loses what isn't synced; `choose` decides among as many outcomes as it is given.
    public mutating func losePower(_ choose: (Int) -> Int) {
        let numbers = Set(nodes.flatMap { $0?.changes.map(\.number) ?? [] }).sorted()
        let kept = withoutOrphans(Self.kept(numbers, choose))
        for index in nodes.indices {
            guard let node = nodes[index], node.kind == .folder else { continue }
            var entries = node.syncedEntries
            for change in node.changes where kept.contains(change.number) {
                switch change.kind {
                case .add(let name, let number): Self.set(name, number, &entries)
                case .remove(let name): entries.removeAll { $0.name == name }
                case .move(let old, let new, let number):
                    entries.removeAll { $0.name == old }
                    Self.set(new, number, &entries)
                }
            }
            update(index) { $0.entries = entries }
        }
        loseUnreachable()
        loseBytes(choose)
        synchronizeAll()
    }

    private static func kept(_ numbers: [Int], _ choose: (Int) -> Int) -> Set<Int> {
        if numbers.count <= subsetLimit { return Set(numbers.filter { _ in choose(2) == 0 }) }
        let outcome = choose(2 * numbers.count + 1)
        if outcome <= numbers.count { return Set(numbers.prefix(numbers.count - outcome)) }
        return Set(numbers).subtracting([numbers[outcome - numbers.count - 1]])
    }

    /// The changes without those that put something into a folder whose own name is lost, or move it once more after a move
    /// that is lost.
    private func withoutOrphans(_ kept: Set<Int>) -> Set<Int> {
        var kept = kept
        var homeless: Set<Int> = []
        let changes = nodes.indices.flatMap { folder in (nodes[folder]?.changes ?? []).map { (folder, $0) } }
        for (folder, change) in changes.sorted(by: { $0.1.number < $1.1.number }) {
            switch change.kind {
            case .add(_, let number):
                let isMovedAgain = homeless.contains(number) && isMove(change, changes)
                if homeless.contains(folder) || isMovedAgain { kept.remove(change.number) }
                if !kept.contains(change.number) { homeless.insert(number) }
            case .move(_, _, let number):
                if kept.contains(change.number) { homeless.remove(number) }
            case .remove: break
            }
        }
        return kept
    }

    private func isMove(_ change: Node.Change, _ changes: [(Int, Node.Change)]) -> Bool {
        changes.contains { (_, other) in
            if case .remove = other.kind { other.number == change.number } else { false }
        }
    }

    private static func set(_ name: Name, _ node: Int, _ entries: inout [Node.Entry]) {
        entries.removeAll { $0.name == name }
        entries.append(Node.Entry(name: name, node: node))
    }

    private mutating func loseUnreachable() {
        var links = Array(repeating: 0, count: nodes.count)
        links[Self.root] = 1
        var waiting = [Self.root]
        while let folder = waiting.popLast() {
            // A name whose file was freed leads nowhere: the change that made the name was lost with the file.
            let entries = (nodes[folder]?.entries ?? []).filter { nodes[$0.node] != nil }
            update(folder) { $0.entries = entries }
            for entry in entries {
                links[entry.node] += 1
                update(entry.node) { $0.above = folder }
                if nodes[entry.node]?.kind == .folder, links[entry.node] == 1 { waiting.append(entry.node) }
            }
        }
        for index in nodes.indices {
            if links[index] == 0 { clear(index) } else { update(index) { $0.links = links[index] } }
        }
    }

    /// A file has its new bytes, those of its last sync, or of the new ones the first half.
    private mutating func loseBytes(_ choose: (Int) -> Int) {
        var outcome = 0
        var chosen = 0
        for index in nodes.indices {
            guard let node = nodes[index], node.kind == .file, node.content !== node.synced else { continue }
            if node.content.hash == node.synced?.hash { continue }
            chosen += 1
            if chosen <= 3 { outcome = choose(3) }
            switch outcome {
            case 0: break
            case 1: setContent(index, node.synced ?? .empty)
            default:
                setContent(index, Content(Array(node.content.bytes.prefix(node.content.bytes.count / 2))))
            }
        }
    }
}
