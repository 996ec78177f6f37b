import SimulatedSystem

/// Files of a simulated app, by calls that a death can come between.
enum Files {
    static let notes = "/app/notes"
    static let library = "/app/library"

    /// Writes a file in place, in two halves.
    static func rewrite(_ path: String, _ text: String) throws {
        let bytes = Array(text.utf8)
        let file = again { open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
        if file < 0 { throw WorkFailure() }
        defer { close(file) }
        let half = bytes.count / 2
        for part in [bytes[..<half], bytes[half...]] {
            let count = again { Array(part).withUnsafeBytes { write(file, $0.baseAddress, $0.count) } }
            if count != part.count { throw WorkFailure() }
        }
    }

    private static func again<Result: SignedInteger>(_ body: () -> Result) -> Result {
        while true {
            let result = body()
            if result != -1 || errno != EINTR { return result }
        }
    }

    /// Makes a file in one call, for what is no matter of the search.
    static func make(_ path: String, _ text: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = Array(text.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    static func remove(_ path: String) throws {
        if unlink(path) != 0, errno != ENOENT { throw WorkFailure() }
    }

    /// The text of a file, read without a call that others see.
    static func text(_ path: String) -> String? {
        Machine.system.disk.content(path).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
