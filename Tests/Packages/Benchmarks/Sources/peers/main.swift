import AppMigrations
import CMeasure
import Foundation
import Measuring

// What the first call in a fresh process costs when nothing is pending, side by side with what an app would take instead.
// It starts itself for each sample: peers KIND FOLDER COUNT prints nanoseconds.

let arguments = CommandLine.arguments
if arguments.count == 4 {
    print(try sample(arguments[1], folder: arguments[2], count: Int(arguments[3]) ?? 0))
    exit(0)
}

let rounds = 41
let kinds = ["ours", "user_version", "grdb"]
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
print("| versions applied | AppMigrations | `PRAGMA user_version` | GRDB `DatabaseMigrator` |")
print("| ---: | ---: | ---: | ---: |")
for count in [10, 100, 1_000] {
    let folder = scratch.appending(path: "\(count)").path(percentEncoded: false)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try prepare(folder, count: count)
    var times = [[Double]](repeating: [], count: kinds.count)
    for round in -2..<rounds {
        for turn in kinds.indices {
            let index = (turn + round + kinds.count) % kinds.count
            let time = try inside([arguments[0], kinds[index], folder, "\(count)"])
            if round >= 0 { times[index].append(time) }
        }
    }
    let cells = times.indices.map { index in
        let ratio = median(zip(times[index], times[0]).map { $0 / $1 })
        return "\(Int(median(times[index]) / 1_000)) µs (\(Int((ratio * 10).rounded()) / 10)×)"
    }
    print("| \(count) | \(cells.joined(separator: " | ")) |")
}
try FileManager.default.removeItem(at: scratch)
