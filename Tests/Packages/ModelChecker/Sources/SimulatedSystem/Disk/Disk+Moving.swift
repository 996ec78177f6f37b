/// The rules of rename(2).
extension Disk {
    /// True for the root of a file system.
    func isRoot(_ number: Int) -> Bool {
        guard let node = nodes[number], node.kind == .folder else { return false }
        return number == Self.root || nodes[node.above].map { $0.device != node.device } ?? false
    }

    /// The file that a rename moves; `nil` where it has nothing to do, since both names are the same file's already.
    ///
    /// The order of the refusals is that of Linux, and their reasons are in rename(2).
    func moved(_ source: Place, to target: Place) throws(Refusal) -> Int? {
        if try node(source.folder).device != node(target.folder).device { throw Refusal(EXDEV) }
        if !isOrdinary(source.name) || !isOrdinary(target.name) { throw Refusal(EBUSY) }
        guard let number = source.node else { throw Refusal(ENOENT) }
        if isInside(target.folder, number) { throw Refusal(EINVAL) }
        if let found = target.node, isInside(source.folder, found) { throw Refusal(ENOTEMPTY) }
        if target.node == number { return nil }
        let moved = try node(number)
        if let found = target.node {
            let replaced = try node(found)
            if moved.kind == .folder, replaced.kind != .folder { throw Refusal(ENOTDIR) }
            if moved.kind != .folder, replaced.kind == .folder { throw Refusal(EISDIR) }
            if isRoot(found) { throw Refusal(EBUSY) }
            if !replaced.entries.isEmpty { throw Refusal(ENOTEMPTY) }
        }
        if isRoot(number) { throw Refusal(EBUSY) }
        return number
    }

    private func isOrdinary(_ name: Name) -> Bool { name != Self.dot && name != Self.dotDot }

    /// True if a folder is the other one, or somewhere below it.
    private func isInside(_ folder: Int, _ other: Int) -> Bool {
        var folder = folder
        while folder != other {
            guard folder != Self.root, let node = nodes[folder] else { return false }
            folder = node.above
        }
        return true
    }
}
