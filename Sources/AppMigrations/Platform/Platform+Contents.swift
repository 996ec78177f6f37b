#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// What files hold: shared, copied with their holes, and compared.
extension Platform {
    /// Makes a file that shares all of the source's blocks where the system does that by name; `false` where it can't.
    static func cloneFile(
        _ name: FileName,
        in folder: Int32,
        to copy: FileName,
        in copyFolder: Int32
    ) throws(SystemCallError) -> Bool {
        #if canImport(Darwin)
        if clonefileat(folder, name, copyFolder, copy, UInt32(CLONE_NOFOLLOW)) == 0 { return true }
        // clonefile(2): ENOTSUP when the file system has no clones, EXDEV when the names are on two of them.
        if [ENOTSUP, EXDEV].contains(errno) { return false }
        throw failure("clonefileat")
        #else
        return false
        #endif
    }

    /// Shares the blocks of an open file where the file system can; `false` where it can't.
    static func clone(_ source: Int32, to target: Int32) throws(SystemCallError) -> Bool {
        #if os(Linux) || os(Android)
        // ioctl_ficlone(2); _IOW(0x94, 9, int), which the C library's headers don't carry.
        let ficlone: UInt = 0x4004_9409
        if ioctl(target, ficlone, source) == 0 { return true }
        if [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS, EPERM, EBADF].contains(errno) { return false }
        throw failure("ioctl")
        #else
        return false
        #endif
    }

    /// Copies an open file to an empty one; what it has holes for stays a hole.
    ///
    /// `afterEach` is called after each part of at most 1 MiB, and ends the copy by throwing.
    static func copyContent(
        _ source: Int32,
        to target: Int32,
        _ status: FileStatus,
        afterEach: (_ count: Int) throws -> Void
    ) throws {
        let size = min(max(status.size, 4_096), 1 << 20)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        if status.allocated >= status.size {
            while true {
                let count = try fill(buffer, from: source)
                if count == 0 { return }
                try writeAll(target, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                try afterEach(count)
            }
        }
        var end = 0
        while let piece = try piece(source, from: end) {
            var start = piece.lowerBound
            _ = try retrying("lseek") { lseek(source, off_t(start), SEEK_SET) }
            _ = try retrying("lseek") { lseek(target, off_t(start), SEEK_SET) }
            while start < piece.upperBound {
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(piece.upperBound - start))
                let count = try fill(part, from: source)
                if count == 0 { break }
                try writeAll(target, UnsafeRawBufferPointer(rebasing: part[..<count]))
                start += count
                try afterEach(count)
            }
            end = piece.upperBound
        }
        _ = try retrying("ftruncate") { ftruncate(target, off_t(status.size)) }
    }

    /// The next part of an open file that is no hole.
    private static func piece(_ file: Int32, from offset: Int) throws(SystemCallError) -> Range<Int>? {
        guard let start = try nextData(file, from: offset) else { return nil }
        #if canImport(Darwin)
        let hole = SEEK_HOLE
        #else
        let hole: Int32 = 4
        #endif
        do throws(SystemCallError) {
            return start..<Int(try retrying("lseek") { lseek(file, off_t(start), hole) })
        } catch {
            if !error.isUnsettable { throw error }
            return start..<Int(try retrying("lseek") { lseek(file, 0, SEEK_END) })
        }
    }

    /// Where the next bytes of an open file are that are in no hole; `nil` when there are none.
    private static func nextData(_ file: Int32, from offset: Int) throws(SystemCallError) -> Int? {
        #if canImport(Darwin)
        let data = SEEK_DATA
        #else
        // lseek(2); Swift's modules of the C libraries leave it and SEEK_HOLE out.
        let data: Int32 = 3
        #endif
        do throws(SystemCallError) {
            return Int(try retrying("lseek") { lseek(file, off_t(offset), data) })
        } catch {
            // lseek(2): ENXIO where no data follow, EINVAL where the file system can't tell.
            if error.errorNumber == ENXIO { return nil }
            if !error.isUnsettable { throw error }
            return offset < Int(try retrying("lseek") { lseek(file, 0, SEEK_END) }) ? offset : nil
        }
    }

    /// Whether two open files of one size hold the same bytes.
    static func haveSameContent(_ one: Int32, _ other: Int32) throws(SystemCallError) -> Bool {
        let half = 1 << 18
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * half, alignment: 16)
        defer { buffer.deallocate() }
        let first = UnsafeMutableRawBufferPointer(rebasing: buffer[..<half])
        let second = UnsafeMutableRawBufferPointer(rebasing: buffer[half...])
        var offset = 0
        // Where both have a hole they are the same.
        while true {
            switch (try nextData(one, from: offset), try nextData(other, from: offset)) {
            case (nil, nil): return true
            case (let start?, nil), (nil, let start?): offset = start
            case (let start?, let otherStart?): offset = min(start, otherStart)
            }
            let count = try fill(first, from: one, at: offset)
            if try fill(second, from: other, at: offset) != count { return false }
            if let start = first.baseAddress, let otherStart = second.baseAddress,
                memcmp(start, otherStart, count) != 0
            {
                return false
            }
            if count < half { return true }
            offset += count
        }
    }

    /// Reads until the buffer is full or the file ends: a file system of the network may give less in one call.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        from file: Int32,
        at offset: Int
    ) throws(SystemCallError) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let more = try retrying("pread") {
                pread(file, rest.baseAddress, rest.count, off_t(offset) + off_t(count))
            }
            if more == 0 { break }
            count += more
        }
        return count
    }
}
