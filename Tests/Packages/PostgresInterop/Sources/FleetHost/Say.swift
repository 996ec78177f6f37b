import Glibc

/// One line, in one call, so that no buffer keeps it when the process is killed.
func say(_ line: String) {
    let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}
