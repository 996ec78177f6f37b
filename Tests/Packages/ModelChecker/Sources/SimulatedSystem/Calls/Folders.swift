// The calls on names, by their names in the C library.

public func rename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
    renameat(AT_FDCWD, old, AT_FDCWD, new)
}

public func renameat(
    _ folder: Int32,
    _ old: UnsafePointer<CChar>,
    _ newFolder: Int32,
    _ new: UnsafePointer<CChar>
) -> Int32 {
    let (old, new) = (text(old), text(new))
    return Machine.call(.rename, "rename \(Machine.name(folder, old)) to \(Machine.name(newFolder, new))") {
        () throws(Refusal) in
        let source = try Machine.system.disk.place(old, from: try Machine.folder(folder), following: false)
        let target = try Machine.system.disk.place(new, from: try Machine.folder(newFolder), following: false)
        guard let number = try Machine.system.disk.moved(source, to: target) else { return 0 }
        Machine.system.disk.move(source.name, from: source.folder, to: target.name, in: target.folder, number)
        return 0
    }
}

public func unlink(_ path: UnsafePointer<CChar>) -> Int32 { unlinkat(AT_FDCWD, path, 0) }

public func rmdir(_ path: UnsafePointer<CChar>) -> Int32 { unlinkat(AT_FDCWD, path, AT_REMOVEDIR) }

public func unlinkat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    let path = text(path)
    let kind: Call.Kind = flags & AT_REMOVEDIR != 0 ? .removeFolder : .unlink
    return Machine.call(kind, "remove \(Machine.name(folder, path))") { () throws(Refusal) in
        let place = try Machine.system.disk.place(path, from: try Machine.folder(folder), following: false)
        guard let number = place.node else { throw Refusal(ENOENT) }
        let node = try Machine.system.disk.node(number)
        if kind == .removeFolder {
            if node.kind != .folder { throw Refusal(ENOTDIR) }
            if Machine.system.disk.isRoot(number) { throw Refusal(EBUSY) }
            if !node.entries.isEmpty { throw Refusal(ENOTEMPTY) }
        } else if node.kind == .folder {
            throw Refusal(EISDIR)
        }
        Machine.system.disk.remove(place.name, from: place.folder)
        return 0
    }
}

public func mkdir(_ path: UnsafePointer<CChar>, _ mode: mode_t) -> Int32 { mkdirat(AT_FDCWD, path, mode) }

public func mkdirat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ mode: mode_t) -> Int32 {
    Machine.make(.folder, .makeFolder, folder, text(path), mode)
}

public func symlink(_ target: UnsafePointer<CChar>, _ path: UnsafePointer<CChar>) -> Int32 {
    Machine.make(.link, .makeLink, AT_FDCWD, text(path), 0o777, Content(Array(text(target).utf8)))
}

extension Machine {
    fileprivate static func make(
        _ node: Node.Kind,
        _ kind: Call.Kind,
        _ folder: Int32,
        _ path: String,
        _ mode: mode_t,
        _ content: Content = .empty
    ) -> Int32 {
        Machine.call(kind, "make the \(node) \(name(folder, path))") { () throws(Refusal) in
            let place = try system.disk.place(path, from: try self.folder(folder), following: false)
            if place.node != nil { throw Refusal(EEXIST) }
            let made = system.disk.make(node, mode: mode, place.name, in: place.folder)
            system.disk.setContent(made, content)
            return 0
        }
    }
}

public func readlink(
    _ path: UnsafePointer<CChar>,
    _ buffer: UnsafeMutablePointer<CChar>,
    _ size: Int
) -> Int {
    let path = text(path)
    return Machine.call(.readLink, path: path, "read the link \(Machine.name(AT_FDCWD, path))") {
        () throws(Refusal) in
        let place = try Machine.system.disk.place(path, from: try Machine.folder(AT_FDCWD), following: false)
        guard let number = place.node else { throw Refusal(ENOENT) }
        let node = try Machine.system.disk.node(number)
        if node.kind != .link { throw Refusal(EINVAL) }
        Machine.observe(node.content.hash)
        for (index, byte) in node.content.bytes.prefix(size).enumerated() {
            buffer[index] = CChar(bitPattern: byte)
        }
        return min(size, node.content.bytes.count)
    }
}

/// Gives the path of the thing that a path leads to: the folders above it have no links in this system.
public func realpath(
    _ path: UnsafePointer<CChar>,
    _ buffer: UnsafeMutablePointer<CChar>?
) -> UnsafeMutablePointer<CChar>? {
    var resolved: String?
    let path = text(path)
    _ = Machine.call(.lookUp, path: path, "resolve \(path)") { () throws(Refusal) in
        guard let node = try Machine.system.disk.place(path, from: Disk.root, following: true).node else {
            throw Refusal(ENOENT)
        }
        resolved = Machine.system.disk.path(node)
        Machine.observe(UInt64(node))
        return 0
    }
    return resolved.map(copied)
}

func copied(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let block = malloc(bytes.count).assumingMemoryBound(to: CChar.self)
    for (index, byte) in bytes.enumerated() { block[index] = byte }
    return block
}

/// An open folder that is being listed.
public final class FolderStream {
    let file: Int32
    /// `nil` until the first is asked for.
    var names: [Name]?
    /// Why it couldn't be listed, which only readdir(3) can tell.
    var refusal: Int32 = 0
    let entry = UnsafeMutablePointer<dirent>.allocate(capacity: 1)

    init(_ file: Int32) { self.file = file }

    deinit { entry.deallocate() }
}

public func fdopendir(_ file: Int32) -> FolderStream? { FolderStream(file) }

/// Lists the folder: all its names at once, as a folder that fits one block is.
private func list(_ stream: FolderStream) -> [Name] {
    let file = stream.file
    var names: [Name] = []
    let call = Machine.call(.list, node: Machine.system.nodeNumber(file), "list \(Machine.path(file))") {
        () throws(Refusal) in
        let number = try Machine.system.file(file).node
        let node = try Machine.system.disk.node(number)
        Machine.touch(.bytes(number), node.hash)
        names = node.entries.map(\.name)
        for name in names { Machine.observe(UInt64(name) | 1 << 45) }
        return names.count
    }
    stream.refusal = call < 0 ? errno : 0
    return names
}

public func readdir(_ stream: FolderStream) -> UnsafeMutablePointer<dirent>? {
    if stream.names == nil {
        let before = errno
        stream.names = list(stream)
        // POSIX: only an error sets errno. Here all processes have one, and another one may have run meanwhile.
        if stream.refusal == 0 { errno = before }
    }
    guard let name = stream.names?.popLast() else {
        if stream.refusal != 0 { errno = stream.refusal }
        return nil
    }
    withUnsafeMutablePointer(to: &stream.entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { bytes in
            for (index, byte) in Names.text(name).utf8CString.enumerated() { bytes[index] = byte }
        }
    }
    return stream.entry
}

@discardableResult
public func closedir(_ stream: FolderStream) -> Int32 { close(stream.file) }
