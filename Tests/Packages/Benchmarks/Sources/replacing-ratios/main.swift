import AppMigrations
import Foundation
import Measuring

// The cost of `replacing:` beside what a user would type: to copy the folder, sync the copy, rename twice and remove the original.
// It is a program of its own, because it writes gigabytes. One line a figure; exit code 1 if one is missed. With --ci, see Report.

var report = Report()
let files = FileManager.default
let scratch = files.temporaryDirectory.appending(path: UUID().uuidString).path(percentEncoded: false)
let data = scratch + "/Data"

func makeData(_ count: Int, of size: Int) throws {
    for number in 0..<count {
        let folder = "\(data)/\(number / 100)"
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let content = Data(repeating: UInt8(truncatingIfNeeded: number), count: size)
        try content.write(to: URL(filePath: "\(folder)/\(number)"))
    }
}

func timeOfReplacing() throws -> Double {
    let state = "\(scratch)/\(UUID().uuidString)"
    // What was written before has no part in the time.
    _ = try spawn(["/bin/sync"])
    return try nanoseconds {
        let migrations = try MigrationManager(
            named: "Library",
            currentVersion: "1.1",
            firstRun: .existingData(at: "1.0"),
            stateDirectory: state
        )
        try migrations.whenMigrating(toVersion: "1.1", replacing: data) { _, _ in }
    }
}

func timeOfCommands() throws -> Double {
    _ = try spawn(["/bin/sync"])
    let commands = "cp -a Data copy && sync -f copy && mv Data old && mv copy Data && rm -rf old"
    return try outside(["/bin/sh", "-c", "cd '\(scratch)' && \(commands)"])
}

let trees = [
    (10_000, 4 << 10, "10,000 files of 4 KiB", pairs: 3), (4, 100_000_000, "4 files of 100 MB", pairs: 11),
]
for (count, size, name, pairs) in trees {
    try makeData(count, of: size)
    let ratio = try pairedRatio(pairs, timeOfReplacing, timeOfCommands)
    report.ratio("replacing \(name): time against cp, sync, mv, mv, rm", ratio, atMost: 1.3)
    try files.removeItem(atPath: scratch)
}
report.finish()
