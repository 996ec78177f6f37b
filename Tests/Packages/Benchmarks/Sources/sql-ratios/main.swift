import CMeasure
import Foundation
import Measuring

// The cost of the SQL migrator beside that of the statements alone. One line a figure; exit code 1 if one is
// missed. With --ci, see Report; with --files, the small files alone. It starts itself for samples of a fresh process:
// sql-ratios KIND PATH COUNT.

if CommandLine.arguments.count == 4, let count = Int(CommandLine.arguments[3]) {
    let database = IdleDatabase(path: CommandLine.arguments[2], count: count)
    print(Int(try database.check(CommandLine.arguments[1])))
    exit(0)
}

var report = Report()
let name = UUID().uuidString
let scratch = FileManager.default.temporaryDirectory.appending(path: name).path(percentEncoded: false)
// Where a sync costs nothing, the work itself shows.
let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm/\(name)" : scratch + "/memory"
for folder in [scratch, memory] {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
}

if !CommandLine.arguments.contains("--files") { try measureIdle() }
try measureFiles()
if !CommandLine.arguments.contains("--files") { try measureBatches() }

for folder in Set([scratch, memory]) where FileManager.default.fileExists(atPath: folder) {
    try FileManager.default.removeItem(atPath: folder)
}
report.finish()
