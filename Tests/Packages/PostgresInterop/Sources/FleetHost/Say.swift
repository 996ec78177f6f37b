import Glibc

/// One line, in one call, so that no buffer keeps it when the process is killed.
func say(_ line: String) {
    let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

/// The time of the server's clock, which is that of the same machine, in seconds since 1970.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
