package import AppMigrations

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The calls that read a folder of scripts.
extension Platform {
    /// The names of everything in a folder, in no order.
    package static func names(inFolder path: String) throws(SystemCallError) -> [String] {
        // A name that is no text is refused like any other that is misspelt.
        try names(in: path, strictly: true)
    }

    /// The bytes of a regular file, also where a link leads to it; `nil` for anything else.
    static func bytes(ofFile path: String) throws(SystemCallError) -> [UInt8]? {
        // open(2): without O_NONBLOCK a FIFO would be waited for until a program writes to it.
        let file = try opening { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        defer { closeAfterReading(file) }
        return try contents(ofOpen: file, limit: .max)
    }
}
