#if os(Linux)
import Foundation
import Testing

/// The calls on the entries of folders, in the order in which they were made: the kernel queues them (inotify(7)).
///
/// So a test sees what another process could have seen between two calls, without stopping the code in between.
final class FolderWatch {
    private let descriptor: Int32
    private let masks: [(mask: UInt32, sign: String)] = [
        (UInt32(IN_MOVED_FROM), "-"),
        (UInt32(IN_MOVED_TO), "+"),
        (UInt32(IN_CREATE), "new"),
        (UInt32(IN_OPEN), "open"),
    ]

    init() throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func add(_ folder: String) throws {
        let mask = masks.reduce(0) { $0 | $1.mask }
        try #require(inotify_add_watch(descriptor, folder, mask) >= 0)
    }

    /// The calls since the last time: `-` and `+` for a name that was moved away and to its place, `new` and `open`.
    ///
    /// The kernel merges equal ones that follow each other.
    func events() throws -> [String] {
        var events: [String] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count < 0, errno == EAGAIN { return events }
            try #require(count > 0)
            var rest = bytes[..<count]
            while !rest.isEmpty {
                // The watch, the mask, a cookie and the length of the name are 32 bits each; NULs fill the name up.
                let header = Array(rest.prefix(16)).withUnsafeBytes { bytes in
                    bytes.loadUnaligned(as: inotify_event.self)
                }
                let name = rest.dropFirst(16).prefix(Int(header.len)).prefix { $0 != 0 }
                for (mask, sign) in masks where header.mask & mask != 0 {
                    events.append("\(sign) \(String(decoding: name, as: UTF8.self))")
                }
                rest = rest.dropFirst(16 + Int(header.len))
            }
        }
    }
}
#endif
