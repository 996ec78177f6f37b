// The locks between processes, by the calls' names in the C library.

@discardableResult
public func flock(_ file: Int32, _ operation: Int32) -> Int32 {
    let kind: Call.Kind = operation & LOCK_UN != 0 ? .unlock : .lock
    let node = Machine.system.nodeNumber(file)
    let manner = operation & LOCK_SH != 0 ? ", shared" : ""
    return Machine.call(kind, node: node, "\(kind) \(Machine.path(file))\(manner)") {
        () throws(Refusal) in
        let index = try Machine.system.index(file)
        if try Machine.system.file(file).isNameOnly { throw Refusal(EBADF) }
        if kind == .unlock {
            Machine.system.files[index]?.lock = .none
            return 0
        }
        let isSharing = operation & LOCK_SH != 0
        Machine.touch(.lock(node), Machine.system.lockOfOthers(node, Machine.current))
        if Machine.system.isLocked(node, besides: index, sharing: isSharing) {
            // flock(2): a lock that can't be converted is lost.
            if Machine.system.files[index]?.lock != (isSharing ? .shared : .exclusive) {
                Machine.system.files[index]?.lock = .none
            }
            throw Refusal(EWOULDBLOCK)
        }
        Machine.system.files[index]?.lock = isSharing ? .shared : .exclusive
        return 0
    }
}

public func fcntl(_ file: Int32, _ command: Int32, _ argument: Int32) -> Int32 {
    do throws(Refusal) {
        let index = try Machine.system.index(file)
        if command != F_DUPFD_CLOEXEC { throw Refusal(EINVAL) }
        Machine.system.files[index]?.copies += 1
        return Int32(Machine.system.describe(index))
    } catch {
        errno = error.number
        return -1
    }
}
