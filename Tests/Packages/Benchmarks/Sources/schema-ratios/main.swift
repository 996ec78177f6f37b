import AppMigrationsSQLite
import AppMigrationsSchema
import CMeasure
import Foundation
import Measuring

// The cost of schema changes: a rebuild against the same SQL in the sqlite3 shell, its memory, and a plan
// that finds nothing to do. One line a figure; exit code 1 if one is missed. With --ci, see Report; the times
// here have a multiple of what they need, and get the room of a ratio.
// As "rebuild <database>" it is the child that rebuilds, and prints its peak of memory in KiB.

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "rebuild" {
    try rebuild(SQLiteConnection(path: CommandLine.arguments[2]))
    print(try peakMemory())
    exit(0)
}

var report = Report()
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)

let program = URL(filePath: CommandLine.arguments[0]).path(percentEncoded: false)
let million = try database(rows: 1_000_000)
let tenth = try database(rows: 100_000)

let time = try pairedRatio(
    report.isCI ? 3 : 7,
    { try outside([program, "rebuild", copy(of: million)]) },
    { try outside([shell, copy(of: million), sameSQL]) }
)
report.ratio("rebuild of 1,000,000 rows: time against the same SQL in the shell", time, atMost: 1)

let peaks = try [million, tenth].map { try inside([program, "rebuild", copy(of: $0)]) }
report.count(
    "the same: KiB of peak memory more than for 100,000 rows",
    Int(peaks[0] - peaks[1]),
    atMost: 1_024
)

let db = try SQLiteConnection(path: scratch.appending(path: "many.db").path(percentEncoded: false))
let schema = manyTables(separator: " ")
try db.transaction { try db.execute(script: schema) }
for (name, target) in [
    ("a plan for 200 unchanged tables: milliseconds", schema),
    ("the same, with the target's blanks changed: milliseconds", manyTables(separator: "\n    ")),
] {
    let times = try (0..<21).map { _ in
        try nanoseconds {
            let plan = try SchemaPlan(from: db, to: target)
            if !plan.steps.isEmpty || !plan.questions.isEmpty { report.fail("a plan without a change") }
        }
    }
    report.ratio(name, median(times) / 1_000_000, atMost: 50)
}

try FileManager.default.removeItem(at: scratch)
report.finish()
