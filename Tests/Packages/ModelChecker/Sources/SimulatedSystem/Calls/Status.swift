// The calls that tell and set the attributes of files, by their names in the C library.

/// The user that every simulated process runs as.
private let user: UInt32 = 1_000

extension Machine {
    static func tell(_ number: Int, _ status: UnsafeMutablePointer<stat>) throws(Refusal) {
        let node = try system.disk.node(number)
        status.pointee = stat()
        status.pointee.st_dev = UInt(node.device)
        // The roots of file systems of one kind have the same number, as those of ext4 have 2.
        status.pointee.st_ino = UInt(system.disk.isRoot(number) ? Disk.root : number)
        status.pointee.st_nlink = UInt(node.links)
        status.pointee.st_mode = node.mode | node.format
        status.pointee.st_uid = user
        status.pointee.st_gid = user
        status.pointee.st_size = node.content.bytes.count
        status.pointee.st_blocks = (node.content.bytes.count + 511) / 512
        observe(UInt64(number) << 32 | UInt64(status.pointee.st_mode))
        observe(UInt64(status.pointee.st_size) << 16 | UInt64(node.links))
    }

    fileprivate static func lookUp(
        _ folder: Int32,
        _ path: String,
        _ status: UnsafeMutablePointer<stat>,
        following: Bool
    ) -> Int32 {
        let whole = name(folder, path)
        return Machine.call(.lookUp, path: whole, "look at \(whole)") { () throws(Refusal) in
            let place = try system.disk.place(path, from: try self.folder(folder), following: following)
            guard let number = place.node else { throw Refusal(ENOENT) }
            try tell(number, status)
            return 0
        }
    }

    fileprivate static func change(_ number: Int, _ body: (inout Node) -> Void) -> Int32 {
        system.disk.update(number, body)
        return 0
    }
}

extension Node {
    fileprivate var format: mode_t {
        switch kind {
        case .file: S_IFREG
        case .folder: S_IFDIR
        case .link: S_IFLNK
        }
    }
}

public func stat(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    Machine.lookUp(AT_FDCWD, text(path), status, following: true)
}

public func lstat(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    Machine.lookUp(AT_FDCWD, text(path), status, following: false)
}

public func fstatat(
    _ folder: Int32,
    _ path: UnsafePointer<CChar>,
    _ status: UnsafeMutablePointer<stat>,
    _ flags: Int32
) -> Int32 {
    Machine.lookUp(folder, text(path), status, following: flags & AT_SYMLINK_NOFOLLOW == 0)
}

public func fstat(_ file: Int32, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    Machine.call(
        .status,
        node: Machine.system.nodeNumber(file),
        "ask about the open \(Machine.path(file))"
    ) { () throws(Refusal) in
        try Machine.tell(try Machine.system.file(file).node, status)
        return 0
    }
}

/// statx(2), of which only the attributes of a mount are asked for.
///
/// They never change, so the scheduler doesn't see the call.
public func statx(
    _ folder: Int32,
    _ path: UnsafePointer<CChar>,
    _ flags: Int32,
    _ mask: UInt32,
    _ status: UnsafeMutableRawPointer
) -> Int32 {
    let words = status.assumingMemoryBound(to: UInt64.self)
    do throws(Refusal) {
        let start = try Machine.folder(folder)
        let path = text(path)
        // An empty path stands for the open folder itself.
        let place = path.isEmpty ? nil : try Machine.system.disk.place(path, from: start, following: false)
        guard let number = place.map({ $0.node }) ?? start else { throw Refusal(ENOENT) }
        words[1] = Machine.system.disk.isRoot(number) ? 0x2000 : 0
        words[7] = 0x2000
        return 0
    } catch {
        errno = error.number
        return -1
    }
}

/// Linux 6.1.
public func uname(_ system: UnsafeMutablePointer<utsname>) -> Int32 {
    let release: [UInt8] = [0x36, 0x2E, 0x31, 0]
    withUnsafeMutableBytes(of: &system.pointee.release) { $0.copyBytes(from: release) }
    return 0
}

public func faccessat(
    _ folder: Int32,
    _ path: UnsafePointer<CChar>,
    _ mode: Int32,
    _ flags: Int32
) -> Int32 {
    var found = stat()
    return Machine.lookUp(folder, text(path), &found, following: true)
}

/// Sets the permissions of an open file; if it has them, nothing changes that the scheduler could see.
public func fchmod(_ file: Int32, _ mode: mode_t) -> Int32 {
    let node = Machine.system.disk.nodes[Machine.system.nodeNumber(file)]
    if let node, node.mode == mode & 0o7777 { return 0 }
    return Machine.call(
        .setAttributes,
        node: Machine.system.nodeNumber(file),
        "set the permissions of \(Machine.path(file))"
    ) { () throws(Refusal) in
        Machine.change(try Machine.system.file(file).node) { $0.mode = mode & 0o7777 }
    }
}

public func chmod(_ path: UnsafePointer<CChar>, _ mode: mode_t) -> Int32 { fchmodat(AT_FDCWD, path, mode, 0) }

public func fchmodat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ mode: mode_t, _ flags: Int32) -> Int32 {
    let path = text(path)
    return Machine.call(.setAttributes, "set the permissions of \(Machine.name(folder, path))") {
        () throws(Refusal) in
        let place = try Machine.system.disk.place(path, from: try Machine.folder(folder), following: true)
        guard let number = place.node else { throw Refusal(ENOENT) }
        return Machine.change(number) { $0.mode = mode & 0o7777 }
    }
}

// Every file belongs to the one user, has no access list, and its times stand still.

public func fchown(_ file: Int32, _ owner: uid_t, _ group: gid_t) -> Int32 { 0 }

public func lchown(_ path: UnsafePointer<CChar>, _ owner: uid_t, _ group: gid_t) -> Int32 { 0 }

public func futimens(_ file: Int32, _ times: UnsafePointer<timespec>) -> Int32 { 0 }

public func utimensat(
    _ folder: Int32,
    _ path: UnsafePointer<CChar>,
    _ times: UnsafePointer<timespec>,
    _ flags: Int32
) -> Int32 { 0 }

public func flistxattr(_ file: Int32, _ names: UnsafeMutablePointer<CChar>?, _ size: UInt) -> Int { 0 }

public func fgetxattr(
    _ file: Int32,
    _ name: UnsafePointer<CChar>,
    _ value: UnsafeMutableRawPointer?,
    _ size: UInt
) -> Int {
    errno = ENODATA
    return -1
}

public func fsetxattr(
    _ file: Int32,
    _ name: UnsafePointer<CChar>,
    _ value: UnsafeRawPointer?,
    _ size: UInt,
    _ flags: Int32
) -> Int32 { 0 }

public func fremovexattr(_ file: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
    errno = ENODATA
    return -1
}

public func geteuid() -> uid_t { user }
