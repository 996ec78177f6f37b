// A host of a fleet that has no disk of its own: <connection> <release> [<name>=<value> …]. It migrates, says in lines what it
// does, and ends. After an error it begins again, as a container does that is started anew.
//
//     lease=<seconds>       the lease's length
//     cells=binary          values on the wire as PostgresNIO has them
//     log=<connection>      where closures take down that they run; a connection without a pool
//     gates=<connection>    where the gates are
//     renewed=yes           a transaction waits for a renewal of the lease
//     serves=yes            answers its probe until the gate "end" is open

import AppMigrations
import Glibc

guard CommandLine.arguments.count >= 3 else { throw HostError.usage }
var settings = [String: String]()
for argument in CommandLine.arguments.dropFirst(3) {
    let parts = argument.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { throw HostError.usage }
    settings[String(parts[0])] = String(parts[1])
}
// A fleet is proved on hosts that can write nothing.
for folder in [".", "/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/run"] {
    let path = "\(folder)/fleet-host-\(getpid())"
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 {
        unlink(path)
        throw HostError.writable(folder)
    }
}
let host = Host(connection: CommandLine.arguments[1], release: CommandLine.arguments[2], settings: settings)
var hasEnded = false
while !hasEnded {
    do {
        try await host.start()
        hasEnded = true
    } catch {
        say("error \(kind(of: error)) \(error)")
        try await Task.sleep(for: .milliseconds(100))
    }
}

enum HostError: Error {
    case usage, writable(String)
}

/// What a service asks of an error before it tries again, and its code.
///
/// An error of a closure's own connection is the app's.
func kind(of error: any Error) -> String {
    guard let error = error as? MigrationError else { return "own \(type(of: error))" }
    return "\(error.isTransient ? "transient" : "permanent") \(error.code)"
}
