// The calls of the C library on files, by their names there.

func text(_ path: UnsafePointer<CChar>) -> String { String(cString: path) }

extension Machine {
    /// The folder that a descriptor stands for, where a path that isn't absolute begins.
    static func folder(_ descriptor: Int32) throws(Refusal) -> Int {
        descriptor == AT_FDCWD ? Disk.root : try system.file(descriptor).node
    }

    static func name(_ folder: Int32, _ path: String) -> String {
        folder == AT_FDCWD ? path : system.disk.path(system.nodeNumber(folder)) + "/" + path
    }

    static func open(_ folder: Int32, _ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
        let kind: Call.Kind =
            flags & O_CREAT != 0 ? .create : flags & O_DIRECTORY != 0 ? .openFolder : .open
        return Int32(
            call(kind, path: name(folder, path), "\(kind) \(name(folder, path))") { () throws(Refusal) in
                try opened(try self.folder(folder), path, flags, mode)
            }
        )
    }

    private static func opened(
        _ folder: Int,
        _ path: String,
        _ flags: Int32,
        _ mode: mode_t
    ) throws(Refusal) -> Int {
        let isNameOnly = flags & 0o10000000 != 0
        let place = try system.disk.place(path, from: folder, following: flags & O_NOFOLLOW == 0)
        guard let number = place.node else {
            if flags & O_CREAT == 0 { throw Refusal(ENOENT) }
            let made = system.disk.make(.file, mode: mode & 0o777, place.name, in: place.folder)
            return system.openFile(made, isWritable: true)
        }
        if flags & O_CREAT != 0, flags & O_EXCL != 0 { throw Refusal(EEXIST) }
        let isWritable = flags & (O_WRONLY | O_RDWR) != 0
        switch try system.disk.node(number).kind {
        case .link: throw Refusal(flags & O_DIRECTORY != 0 ? ENOTDIR : ELOOP)
        case .folder: if isWritable || flags & O_CREAT != 0 { throw Refusal(EISDIR) }
        case .file: if flags & O_DIRECTORY != 0 { throw Refusal(ENOTDIR) }
        }
        try noteSharing(number)
        if flags & O_TRUNC != 0 { system.disk.setContent(number, .empty, by: getpid()) }
        return system.openFile(number, isWritable: isWritable, isNameOnly: isNameOnly)
    }

    private static func noteSharing(_ number: Int) throws(Refusal) {
        guard let writer = try system.disk.node(number).writer, writer != getpid() else { return }
        if system.processes.contains(where: { $0.number == writer && !$0.isDead }) { isAnyFileShared = true }
    }

    static func path(_ descriptor: Int32) -> String { system.disk.path(system.nodeNumber(descriptor)) }
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    Machine.open(AT_FDCWD, text(path), flags, 0)
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    Machine.open(AT_FDCWD, text(path), flags, mode)
}

public func openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    Machine.open(folder, text(path), flags, 0)
}

public func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    Machine.call(.read, node: Machine.system.nodeNumber(file), "read \(Machine.path(file))") {
        () throws(Refusal) in
        let open = try Machine.system.file(file)
        let read = try Machine.bytes(of: open, buffer, count, at: open.offset)
        Machine.system.files[try Machine.system.index(file)]?.offset += read
        return read
    }
}

extension Machine {
    fileprivate static func bytes(
        of file: SystemState.OpenFile,
        _ buffer: UnsafeMutableRawPointer?,
        _ count: Int,
        at offset: Int
    ) throws(Refusal) -> Int {
        let node = try system.disk.node(file.node)
        if node.kind == .folder { throw Refusal(EISDIR) }
        if file.isNameOnly { throw Refusal(EBADF) }
        observe(node.content.hash)
        touch(.bytes(file.node), node.hash)
        let bytes = node.content.bytes
        let read = max(0, min(count, bytes.count - offset))
        if read > 0 {
            bytes.withUnsafeBytes { bytes in
                let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + read])
                UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(from: part)
            }
        }
        return read
    }
}

public func write(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    // The line that names a lock's holder decides nothing, and would only tell states apart that are alike.
    if Machine.path(file).hasSuffix(".migrations.lock") { return count }
    return Machine.call(
        .write,
        node: Machine.system.nodeNumber(file),
        "write \(count) bytes into \(Machine.path(file))"
    ) { () throws(Refusal) in
        let open = try Machine.system.file(file)
        if !open.isWritable { throw Refusal(EBADF) }
        var bytes = try Machine.system.disk.node(open.node).content.bytes
        if bytes.count < open.offset + count {
            bytes += Array(repeating: 0, count: open.offset + count - bytes.count)
        }
        let new = UnsafeRawBufferPointer(start: buffer, count: count)
        bytes.replaceSubrange(open.offset..<open.offset + count, with: new)
        Machine.system.disk.setContent(open.node, Content(bytes), by: getpid())
        Machine.system.files[try Machine.system.index(file)]?.offset += count
        return count
    }
}

public func ftruncate(_ file: Int32, _ size: off_t) -> Int32 {
    Machine.call(
        .truncate,
        node: Machine.system.nodeNumber(file),
        "cut \(Machine.path(file)) to \(size) bytes"
    ) { () throws(Refusal) in
        let open = try Machine.system.file(file)
        if !open.isWritable { throw Refusal(EINVAL) }
        var bytes = try Machine.system.disk.node(open.node).content.bytes
        if bytes.count > size {
            bytes.removeLast(bytes.count - size)
        } else {
            bytes += Array(repeating: 0, count: size - bytes.count)
        }
        Machine.system.disk.setContent(open.node, Content(bytes), by: getpid())
        return 0
    }
}

public func lseek(_ file: Int32, _ offset: off_t, _ from: Int32) -> off_t {
    do throws(Refusal) {
        let size = try Machine.system.disk.node(try Machine.system.file(file).node).content.bytes.count
        let index = try Machine.system.index(file)
        // lseek(2): 3 is SEEK_DATA and 4 SEEK_HOLE. Nothing here has holes, but for the one at the end.
        if from == 3 || from == 4, offset >= size { throw Refusal(ENXIO) }
        let new =
            switch from {
            case SEEK_END, 4: from == 4 ? size : size + offset
            case SEEK_CUR: (Machine.system.files[index]?.offset ?? 0) + offset
            default: offset
            }
        Machine.system.files[index]?.offset = new
        return new
    } catch {
        errno = error.number
        return -1
    }
}

@discardableResult
public func close(_ file: Int32) -> Int32 {
    let node = Machine.system.nodeNumber(file)
    return Machine.call(.close, node: node, "close \(Machine.path(file))") { () throws(Refusal) in
        try Machine.system.close(file)
        return 0
    }
}

public func fsync(_ file: Int32) -> Int32 {
    Machine.call(
        .synchronize,
        node: Machine.system.nodeNumber(file),
        "sync \(Machine.path(file)) to disk"
    ) { () throws(Refusal) in
        let open = try Machine.system.file(file)
        if open.isNameOnly { throw Refusal(EBADF) }
        Machine.system.disk.synchronize(open.node)
        return 0
    }
}

public func syncfs(_ file: Int32) -> Int32 {
    Machine.call(.synchronizeAll, "sync the whole file system to disk") { () throws(Refusal) in
        let open = try Machine.system.file(file)
        if open.isNameOnly { throw Refusal(EBADF) }
        Machine.system.disk.synchronizeAll(on: try Machine.system.disk.node(open.node).device)
        return 0
    }
}

/// Sharing of blocks: this file system can't.
public func ioctl(_ file: Int32, _ request: UInt, _ argument: Int32) -> Int32 {
    errno = EOPNOTSUPP
    return -1
}

/// The flags of a file, which this file system doesn't have.
public func ioctl(_ file: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
    errno = ENOTTY
    return -1
}
