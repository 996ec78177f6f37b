import AppMigrations
import CMeasure
import Foundation
import Measuring

@MainActor func measureProcess() throws {
    // The program finds its state through its working directory, since to read an argument is no part of a start.
    if !FileManager.default.changeCurrentDirectoryPath(try state(10)) { report.fail("the working directory") }
    let idle = ["\(programs)/idle"]
    let empty = ["\(programs)/empty"]
    let time = try pairedRatio(1_500, { try outside(idle) }, { try outside(empty) })
    report.ratio("whole process, 10 versions: time against an empty program", time, atMost: 1.08)
    // The fewest of many: where the kernel has little memory at hand it takes pages back.
    func faults(_ arguments: [String]) throws -> Int64 {
        try (0..<30).map { _ in try spawn(arguments).faults }.min() ?? -1
    }
    let more = Int(try faults(idle) - faults(empty))
    report.count("whole process, 10 versions: page faults more", more, atMost: 20)
    let (ours, nothing) = (try trace(idle), try trace(empty))
    let memory = Int(ours.private_kib) - Int(nothing.private_kib)
    report.count("whole process, 10 versions: KiB of memory of its own more", memory, atMost: 256)
    // The kernel maps sixteen pages around each one that is touched, so this says how the files are laid out.
    let mapped = Int(ours.mapped_kib) - Int(nothing.mapped_kib)
    report.note("the same: KiB of program and libraries mapped more, shared", mapped)
    let libraries = Int(ours.libraries) - Int(nothing.libraries)
    report.count("whole process, 10 versions: shared libraries more", libraries, atMost: 1)
}

@MainActor func measureColdStart() throws {
    for count in [10, 100] {
        let (ours, inC) = (try cold(count), probe("c", try state(count), count))
        let ratio = try pairedRatio(150, { try inside(ours) }, { try inside(inC) })
        report.ratio(
            "cold start, \(count) versions: time against open, read, close of the same file in C with warm code",
            ratio,
            atMost: 8.5
        )
    }
    let (few, many) = (try cold(10), try cold(1_000))
    // Other work on the machine only adds to a time: the best of many is what this program takes.
    let best = try (0..<300).reduce((few: Double.infinity, many: Double.infinity)) { best, _ in
        (min(best.few, try inside(few)), min(best.many, try inside(many)))
    }
    let slope = (best.many - best.few) / 990
    report.time("each version that has run, cold: nanoseconds", slope, atMost: 60)
    let calls = (try trace(few).marked, try trace(many).marked)
    report.count("cold start, 10 versions: system calls", Int(calls.0), atMost: 4)
    report.count("990 versions more: system calls more", Int(calls.1) - Int(calls.0), exactly: 0)
    let allocations = try [10, 1_000].map { try spawn(probe("allocations", try state($0), $0)).output }
    report.count("990 versions more: allocations more", Int(allocations[1] - allocations[0]), exactly: 0)
    for count in [10, 1_000] {
        let isStored = try inside(["\(programs)/defaults", "store", "\(count)"]) == 0
        if !isStored { report.fail("to store the user defaults") }
        let (ours, byHand) = (try cold(count), ["\(programs)/defaults", "\(count)"])
        let ratio = try pairedRatio(90, { try inside(byHand) }, { try inside(ours) })
        report.ratio(
            "cold start, \(count) versions: times faster than UserDefaults by hand",
            ratio,
            atLeast: 80
        )
    }
    let (long, short) = (try cold(10, history: 100), try cold(10))
    let history = try pairedRatio(150, { try inside(long) }, { try inside(short) })
    report.ratio("100 rows of history: time against none", history, atMost: 1.5)
    let (most, tenth) = (try cold(100_000), try cold(10_000))
    let growth = try pairedRatio(15, { try inside(most) }, { try inside(tenth) })
    report.ratio("100,000 versions: time against 10,000", growth, atMost: 11)
}

/// The time of one migration beside a history of `rows` rows.
@MainActor func timeOfMigration(in folder: String, restoring before: Data) throws -> Double {
    try before.write(to: URL(filePath: folder + "/Library.migrations.json"))
    let manager = try MigrationManager(named: "Library", currentVersion: "1.2", stateDirectory: folder)
    return try nanoseconds { try manager.whenMigrating(toVersion: "1.2") {} }
}

@MainActor func measureMigration() throws {
    func stored(_ folder: String) throws -> Data {
        try Data(contentsOf: URL(filePath: folder + "/Library.migrations.json"))
    }
    let beside60 = try state(1, history: 60)
    let before60 = try stored(beside60)
    let text60 = String(decoding: before60, as: UTF8.self)
    let ratio60 = try pairedRatio(
        300,
        { try timeOfMigration(in: beside60, restoring: before60) },
        {
            nanoseconds {
                for _ in 0..<2
                where measure_c_commit(beside60, "reference", text60, UInt64(text60.utf8.count)) != 0 {
                    report.fail("a commit in C")
                }
            }
        }
    )
    report.ratio("one migration beside 60 rows: time against two durable saves in C", ratio60, atMost: 1.3)
    let (beside1, beside1000) = (try state(1, history: 1), try state(1, history: 999))
    let (before1, before1000) = (try stored(beside1), try stored(beside1000))
    let growth = try pairedRatio(
        60,
        { try timeOfMigration(in: beside1000, restoring: before1000) },
        { try timeOfMigration(in: beside1, restoring: before1) }
    )
    report.ratio("one migration beside 999 rows of history: time against one row", growth, atMost: 2)
    let folder = try state(1)
    let stateFile = URL(filePath: folder + "/Library.migrations.json")
    let before = try stored(folder)
    let text = String(decoding: before, as: UTF8.self)
    let ratio = try pairedRatio(
        300,
        { try timeOfMigration(in: folder, restoring: before) },
        {
            try before.write(to: stateFile)
            return nanoseconds {
                for _ in 0..<2 where measure_c_commit(folder, "reference", text, UInt64(text.utf8.count)) != 0
                {
                    report.fail("a commit in C")
                }
            }
        }
    )
    report.ratio("one migration: time against two durable commits in C", ratio, atMost: 1.2)
    try before.write(to: stateFile)
    let pending = try trace(probe("migrate", folder, 2))
    report.count("one migration: fsync calls", Int(pending.marked_syncs), exactly: 4)
    // Each file is synced, and their folder and the state directory once.
    let photos = folder + "/photos"
    try FileManager.default.createDirectory(atPath: photos, withIntermediateDirectories: true)
    for number in 1...20 { try Data("photo".utf8).write(to: URL(filePath: "\(photos)/\(number)")) }
    try before.write(to: stateFile)
    let synced = try trace(probe("synchronize", folder, 2))
    report.count(
        "20 files of one folder synced in one call: fsync calls more",
        Int(synced.marked_syncs) - Int(pending.marked_syncs),
        exactly: 22
    )
    try FileManager.default.removeItem(atPath: photos)
}

@MainActor func measureVersions() throws {
    let rounds = 20_000
    let expected = risesPlainly(1)
    if risesOfOurs(1) != expected || expected < 1 { report.fail("the same order as plain versions") }
    let ratio = pairedRatio(
        21,
        { nanoseconds { if risesPlainly(rounds) < 0 { report.fail("plain versions") } } },
        { nanoseconds { if risesOfOurs(rounds) < 0 { report.fail("versions") } } }
    )
    report.ratio("parse and compare versions: times faster than arrays of numbers", ratio, atLeast: 2.5)
    var (long, longer) = (Double.infinity, Double.infinity)
    for _ in 0..<2_000 {
        long = min(long, parseAndCompareLong(components: 1_000))
        longer = min(longer, parseAndCompareLong(components: 10_000))
    }
    report.time("1,000 components, parse and compare: microseconds", long / 1_000, atMost: 10)
    report.ratio("10,000 components: time against 1,000", longer / long, atMost: 12)
}

@MainActor func measureAsynchronous() throws {
    let folder = try state(1_000)
    let (waiting, plain) = (probe("asynchronous", folder, 1_000), probe("synchronous", folder, 1_000))
    let ratio = try pairedRatio(60, { try inside(waiting) }, { try inside(plain) })
    report.ratio("1,000 versions from the main actor: asynchronous against synchronous", ratio, atMost: 3)
    report.count("the same: threads made", Int(try trace(waiting).threads), exactly: 0)
}
