#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The stand-in app's own calls, without Foundation: it changes files, and kills itself.
enum System {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func append(_ text: String, to path: String, exclusively: Bool = false) throws(Failure) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (exclusively ? O_EXCL : 0)
        let descriptor = open(path, flags, 0o644)
        if descriptor < 0 { throw failure(path) }
        defer { close(descriptor) }
        // One call, so that a death leaves a whole line or none.
        let bytes = Array(text.utf8)
        var count = -1
        repeat { count = write(descriptor, bytes, bytes.count) } while count < 0 && errno == EINTR
        if count != bytes.count { throw failure(path) }
    }

    /// Appends a line to a file, unless the file has that line already.
    static func addLine(_ line: String, to path: String) throws(Failure) {
        if exists(path), try content(of: path).split(separator: "\n").contains(line[...]) { return }
        try append("\(line)\n", to: path)
    }

    private static func content(of path: String) throws(Failure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw failure(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw failure(path) }
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func remove(_ path: String) throws(Failure) {
        if unlink(path) != 0 { throw failure(path) }
    }

    static func makeFolder(_ path: String) throws(Failure) {
        if mkdir(path, 0o755) != 0 { throw failure(path) }
    }

    static func die() -> Never {
        kill(getpid(), SIGKILL)
        while true { pause() }
    }

    static func rest() -> Never {
        while true { pause() }
    }

    /// Waits until no process has the standard input open for writing.
    static func waitForEndOfInput() {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }

    static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }

    static func leave(_ status: Int32) -> Never { exit(status) }

    private static func failure(_ path: String) -> Failure {
        Failure(description: "\(path): \(String(cString: strerror(errno)))")
    }
}
