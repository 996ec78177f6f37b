import AppMigrationsRows
import CMeasure
import Foundation
import Measuring

// Rows as Codable values, against GRDB's Codable records. One line a figure; exit code 1 if one is missed. With --ci,
// see Report.
// It starts itself for each sample: row-ratios KIND PATH COUNT prints nanoseconds.

let arguments = CommandLine.arguments
if arguments.count == 4 {
    print(Int(try sample(arguments[1], arguments[2], Int(arguments[3]) ?? 0)))
    exit(0)
}

var report = Report()
let count = 1_000_000
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
let path = scratch.appending(path: "readings.db").path(percentEncoded: false)
let db = try Connection(path: path)
try db.query(Reading.table)
try db.insert((1...count).map(Reading.init), into: "reading")
db.close()

for (kind, name) in [
    ("fetch", "fetch 1,000,000 rows of 5 columns: time against GRDB's records"),
    ("insert", "insert 1,000,000 rows of 5 columns: time against GRDB's records"),
] {
    var times: [Double] = []
    let ratio = try pairedRatio(
        report.isCI ? 3 : 9,
        {
            times.append(try inside([arguments[0], "\(kind)-ours", path, "\(count)"]))
            return times[times.count - 1]
        },
        { try inside([arguments[0], "\(kind)-grdb", path, "\(count)"]) }
    )
    report.ratio(name, ratio, atMost: 1)
    report.note("the same: milliseconds", Int(median(times) / 1e6))
}

try FileManager.default.removeItem(at: scratch)
report.finish()
