#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#else
#error("AppMigrationsSQLite needs a POSIX C library: Darwin, Glibc, Musl or Android's.")
#endif

/// The calls of the C library that reading a folder of scripts makes.
///
/// `Platform+Files.swift` has what replacing a store needs; nothing else names the C library.
///
/// Foundation would do it too, and make every start of a program on Linux a quarter slower.
package enum Platform {
    /// What the C library says of a call that failed.
    package struct Failure: Error {
        package let message: String
        package let number: Int32

        init(_ call: String, _ number: Int32) {
            self.number = number
            message = "\(call) failed: \(String(cString: strerror(number))) (errno \(number))"
        }

        package init(message: String) {
            number = EILSEQ
            self.message = message
        }
    }

    /// The names of everything in a folder, in no order.
    package static func names(inFolder path: String) throws(Failure) -> [String] {
        guard let folder = opendir(path) else { throw Failure("opendir", errno) }
        defer { closedir(folder) }
        var names = [String]()
        while true {
            // The end and an error both are a null pointer; only an error sets errno.
            errno = 0
            guard let entry = readdir(folder) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        if errno != 0 { throw Failure("readdir", errno) }
        return names
    }

    /// The bytes of a file.
    package static func bytes(ofFile path: String) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { throw Failure("open", errno) }
        defer { close(file) }
        var bytes = [UInt8]()
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                throw Failure("read", errno)
            }
        }
    }
}
