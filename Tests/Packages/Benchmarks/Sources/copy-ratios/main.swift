import AppMigrations
import CMeasure
import Foundation
import Measuring

// The cost of `protecting:` beside `cp -a` and one `sync -f` of the same files. One line a figure; exit code 1 if one is missed.
// With --ci, see Report. The files lie in the folder for temporary files: TMPDIR chooses the file system.

var report = Report()
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    .path(percentEncoded: false)
let (data, state, copy, kept) = (scratch + "/data", scratch + "/state", scratch + "/copy", scratch + "/kept")

struct Stop: Error {}

func shell(_ command: String) throws { _ = try spawn(["/bin/sh", "-c", command]) }

func make(_ count: Int, bytes: Int) throws {
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    let content = Data(repeating: 0x61, count: bytes)
    for number in 0..<count { try content.write(to: URL(filePath: "\(data)/\(number)")) }
    try shell("sync -f \(data)")
}

/// The time of a copy that is whole and on the disk.
func copyPlainly() throws -> Double {
    let time = try nanoseconds { try shell("cp -a \(data) \(copy) && sync -f \(copy)") }
    try shell("rm -rf \(copy) && sync -f \(data)")
    return time
}

/// The time until the closure begins, and the time with the restore of all that the closure moved away.
func protect() throws -> (take: Double, both: Double) {
    try shell("rm -rf \(state)")
    _ = try MigrationManager(currentVersion: "1.0", stateDirectory: state)
    let migrations = try MigrationManager(currentVersion: "1.1", stateDirectory: state)
    var (begun, ended): (UInt64, UInt64) = (0, 0)
    let began = measure_now()
    do {
        try migrations.whenMigrating(toVersion: "1.1", protecting: [data]) { () throws -> Void in
            begun = measure_now()
            try FileManager.default.moveItem(atPath: data, toPath: kept)
            ended = measure_now()
            throw Stop()
        }
    } catch {
        if !(error.underlyingError is Stop) { throw error }
    }
    let both = measure_now() - ended + (begun - began)
    try shell("rm -rf \(kept) && sync -f \(data)")
    return (Double(begun - began), Double(both))
}

/// The most memory that this process has had, in KiB.
func memory() -> Int {
    var usage = rusage()
    getrusage(0, &usage)
    return usage.ru_maxrss
}

@MainActor func measure(_ name: String, _ count: Int, bytes: Int, rounds: Int) throws {
    try make(count, bytes: bytes)
    // Other work on the machine only adds to a time, and a sync waits for what it has written: the best of each counts.
    var (plain, take, both) = (Double.infinity, Double.infinity, Double.infinity)
    let before = memory()
    // A disk that others use may have no quiet moment in a few rounds: a figure that is missed is measured on.
    for round in 0..<12 {
        if round >= rounds, take <= 1.5 * plain, both <= 1.7 * plain { break }
        plain = min(plain, try copyPlainly())
        let ours = try protect()
        take = min(take, ours.take)
        both = min(both, ours.both)
    }
    report.shaky("\(name): taken, against cp -a and sync -f", take / plain, atMost: 1.5)
    report.shaky("\(name): taken and put back", both / plain, atMost: 1.7)
    report.count("\(name): KiB of memory", memory() - before, atMost: 6_144)
    try shell("rm -rf \(scratch)")
}

/// The system calls of a migration that protects so many files.
func calls(_ count: Int) throws -> Int {
    try make(count, bytes: 100)
    _ = try MigrationManager(named: "Library", currentVersion: "1.0", stateDirectory: state)
    let probe =
        URL(filePath: CommandLine.arguments[0]).absoluteURL.deletingLastPathComponent().path(
            percentEncoded: false
        ) + "probe"
    let traced = try trace([probe, "take", state, "1"])
    try shell("rm -rf \(scratch)")
    return Int(traced.marked)
}

let (many, few) = (try calls(1_100), try calls(100))
report.count(
    "1,000 files more: system calls more, to take, sync and discard them",
    many - few,
    atMost: 22_500
)
try measure("10,000 files of 4 KiB", 10_000, bytes: 4_096, rounds: report.isCI ? 3 : 9)
try measure("4 files of 200 MB", 4, bytes: 200_000_000, rounds: report.isCI ? 3 : 7)
report.finish()
