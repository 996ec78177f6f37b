/// The files, folders and links, as the processes see them, and what of that a power loss would leave.
///
/// Numbers of files are used again at once, lowest first, as ext4 does.
public struct Disk {
    public private(set) var nodes: [Node?]
    /// True keeps changes apart until they are synced; otherwise everything counts as synced.
    public var isTrackingSyncs = false
    private var lastChange = 0

    public static let root = 1

    public init() {
        nodes = [nil, Node(.folder, mode: 0o755, above: Self.root, device: 1)]
        nodes[Self.root]?.links = 1
    }

    func node(_ number: Int) throws(Refusal) -> Node {
        guard let node = nodes[number] else { throw Refusal(EIO) }
        return node
    }

    mutating func update(_ number: Int, _ body: (inout Node) -> Void) {
        if nodes[number] != nil { nodes[number].modify(body) }
    }

    /// Makes something, on the file system of the folder where `device` names no other.
    mutating func make(
        _ kind: Node.Kind,
        mode: UInt32,
        _ name: Name,
        in folder: Int,
        device: Int? = nil
    ) -> Int {
        let number = nodes.indices.dropFirst(2).first { nodes[$0] == nil } ?? nodes.count
        if number == nodes.count { nodes.append(nil) }
        let device = device ?? nodes[folder]?.device ?? 1
        nodes[number] = Node(kind, mode: mode, above: folder, device: device)
        add(name, number, to: folder)
        return number
    }

    mutating func add(_ name: Name, _ number: Int, to folder: Int) {
        update(number) { $0.links += 1 }
        update(folder) { $0.entries.append(Node.Entry(name: name, node: number)) }
        note(.add(name, number), of: folder)
    }

    mutating func remove(_ name: Name, from folder: Int) {
        take(name, from: folder)
        note(.remove(name), of: folder)
    }

    mutating func move(_ name: Name, from folder: Int, to newName: Name, in newFolder: Int, _ number: Int) {
        take(newName, from: newFolder)
        update(number) { node in
            node.links += 1
            node.writer = nil
        }
        take(name, from: folder)
        update(newFolder) { $0.entries.append(Node.Entry(name: newName, node: number)) }
        if folder == newFolder {
            note(.move(name, newName, number), of: folder)
        } else {
            update(number) { $0.above = newFolder }
            note(.remove(name), of: folder)
            note(.add(newName, number), of: newFolder, following: true)
        }
    }

    /// Takes a name away, and what it stood for where nothing else leads to that.
    private mutating func take(_ name: Name, from folder: Int) {
        guard let number = nodes[folder]?.find(name) else { return }
        update(folder) { $0.entries.removeAll { $0.name == name } }
        update(number) { $0.links -= 1 }
        // The pending change may be what still leads to it, so it is freed by the caller's next look.
        free(number)
    }

    mutating func open(_ number: Int) { update(number) { $0.opens += 1 } }

    mutating func close(_ number: Int) {
        update(number) { $0.opens -= 1 }
        free(number)
    }

    mutating func setContent(_ number: Int, _ content: Content, by writer: Int32? = nil) {
        update(number) { node in
            node.content = content
            node.writer = writer
        }
    }

    private mutating func free(_ number: Int) {
        guard let node = nodes[number], node.links == 0, node.opens == 0 else { return }
        if isTrackingSyncs, isOnDisk(number) { return }
        nodes[number] = nil
    }

    mutating func clear(_ number: Int) { nodes[number] = nil }

    private func isOnDisk(_ number: Int) -> Bool {
        nodes.contains { folder in
            guard let folder else { return false }
            return folder.syncedEntries.contains { $0.node == number } || !folder.changes.isEmpty
        }
    }
}

/// Changes, and the syncs that bring them to the disk.
extension Disk {
    private mutating func note(_ change: Node.Change.Kind, of folder: Int, following: Bool = false) {
        switch change {
        case .add(let name, _), .remove(let name): Machine.changedNames.insert(name)
        case .move(let old, let new, _): Machine.changedNames.formUnion([old, new])
        }
        if !isTrackingSyncs { return }
        if !following { lastChange += 1 }
        let number = lastChange
        update(folder) { $0.changes.append(Node.Change(number: number, kind: change)) }
    }

    mutating func synchronize(_ number: Int) {
        guard isTrackingSyncs, let node = nodes[number] else { return }
        update(number) { node in
            node.synced = node.content
            node.syncedEntries = node.entries
            node.changes = []
        }
        // The other half of a move between two folders is in the same transaction of the journal.
        let done = Set(node.changes.map(\.number))
        var isOfMove = false
        for other in nodes.indices
        where nodes[other]?.changes.contains(where: { done.contains($0.number) }) == true {
            isOfMove = true
            synchronize(other)
        }
        // The sync of a move also brings the name of its new folder.
        if isOfMove, nodes[node.above]?.changes.contains(where: { $0.isOfNew(number) }) == true {
            synchronize(node.above)
        }
        for number in nodes.indices { free(number) }
    }

    public mutating func synchronizeAll() {
        for number in nodes.indices { synchronize(number) }
    }

    mutating func synchronizeAll(on device: Int) {
        for number in nodes.indices where nodes[number]?.device == device { synchronize(number) }
    }

    /// From here on everything that isn't synced is kept apart; what is there counts as synced.
    public mutating func startTrackingSyncs() {
        isTrackingSyncs = true
        synchronizeAll()
    }

    public var hash: UInt64 {
        var hash: UInt64 = 0
        for (number, node) in nodes.enumerated() {
            guard let node else { continue }
            hash &+= Machine.mix(UInt64(number), node.hash)
            if isTrackingSyncs { hash &+= Machine.mix(UInt64(number) | 1 << 50, node.hashOfUnsynced) }
        }
        return hash
    }
}

extension Optional {
    /// Changes the value in its place.
    fileprivate mutating func modify(_ body: (inout Wrapped) -> Void) {
        guard var value = take() else { return }
        body(&value)
        self = value
    }
}
