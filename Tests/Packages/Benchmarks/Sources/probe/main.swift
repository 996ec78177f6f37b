import AppMigrations
import CAllocations
import CMeasure

// Measures the first call in a fresh process: probe KIND DIRECTORY COUNT prints nanoseconds, or allocations.

let kind = CommandLine.arguments[1]
let directory = CommandLine.arguments[2]
let count = Int(CommandLine.arguments[3]) ?? 0
let stateFile = directory + "/Library.migrations.json"
let current = "1.\(max(count, 1))"
// Made before the clock runs: in an app they are literals.
let versions = (0..<count).map { "1.\($0 + 1)" }

func manager() throws -> MigrationManager {
    try MigrationManager(named: "Library", currentVersion: current, stateDirectory: directory)
}

func start() throws {
    let migrations = try manager()
    for version in versions { try migrations.whenMigrating(toVersion: version) {} }
}

func timed(_ body: () throws -> Void) rethrows -> UInt64 {
    _ = measure_now()
    measure_mark()
    let began = measure_now()
    try body()
    let ended = measure_now()
    measure_mark()
    return ended - began
}

switch kind {
case "ours":
    print(try timed { try start() })
case "c":
    // The code is warm: it has read another file before, so that this floor pays for no page faults.
    _ = measure_c_start(directory + "/warm")
    print(timed { _ = measure_c_start(stateFile) })
case "allocations":
    let before = allocations_so_far()
    try start()
    print(allocations_so_far() - before)
case "faults":
    _ = measure_now()
    _ = measure_faults()
    let before = measure_faults()
    try start()
    print(measure_faults() - before)
case "c-faults":
    _ = measure_now()
    _ = measure_faults()
    let before = measure_faults()
    _ = measure_c_start(stateFile)
    print(measure_faults() - before)
case "migrate":
    let migrations = try manager()
    print(try timed { try migrations.whenMigrating(toVersion: current) {} })
case "synchronize":
    let migrations = try manager()
    let files = (1...20).map { "\(directory)/photos/\($0)" }
    print(try timed { try migrations.whenMigrating(toVersion: current) { try $0.synchronize(files) } })
case "asynchronous":
    try await skip(manager())
case "synchronous":
    let migrations = try manager()
    print(try timed { for version in versions { try migrations.whenMigrating(toVersion: version) {} } })
default:
    print(-1)
}

@MainActor func skip(_ migrations: MigrationManager) async throws {
    _ = measure_now()
    measure_mark()
    let began = measure_now()
    for version in versions { try await migrations.whenMigrating(toVersion: version) { await Task.yield() } }
    let ended = measure_now()
    measure_mark()
    print(ended - began)
}
