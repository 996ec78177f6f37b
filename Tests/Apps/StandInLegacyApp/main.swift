// Release 4.0 of an app whose releases up to 3.5 used MFMigrationManager, for Tests/Torture/old-library.
//
// StandInLegacyApp <folder> <path> <action> <action> <action> <action>: one start. <path> is `notes`, a file, or `Notes/list`, a
// file in a folder that is replaced as a whole. Each of the four migrations adds its line there, or does what its action says:
// throw (half done), die (half done) or late (die when all is done).

import AppMigrationsLegacy
import Foundation

#if canImport(Glibc)
import Glibc
#endif

struct Failure: Error {}

func add(_ line: String, to path: String, as action: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let isHalf = action == "throw" || action == "die"
    try "\(text)\(isHalf ? "half-" : "")\(line)\n".write(toFile: path, atomically: true, encoding: .utf8)
    if action == "throw" { throw Failure() }
    if action == "die" || action == "late" { kill(getpid(), SIGKILL) }
}

let arguments = CommandLine.arguments
guard arguments.count == 7 else { exit(64) }
let folder = arguments[1]
let list = arguments[2]
let actions = arguments[3...].map { $0 }
let data = folder + "/data"
let top = "\(data)/\(list.split(separator: "/")[0])"
/// The path of the list below the copy of what is replaced.
let below = (data + "/" + list).dropFirst(top.count)

do {
    let old = try LegacyManager(
        of: .mfMigrationManager(named: "Library"),
        lastRelease: "3.5",
        in: .file(at: folder + "/defaults.plist")
    )
    let migrations = try MigrationManager(
        named: "Library",
        currentVersion: "4.0",
        firstRun: old.firstRun(isUnlocked: true, withoutKeys: .existingData(at: "1.0")),
        stateDirectory: folder + "/state"
    )
    func replace(_ version: String, _ action: String) throws {
        try migrations.whenMigrating(toVersion: version, unlessRunBy: old, replacing: top) { copy, _ in
            print("run \(version)")
            try add("m\(version)", to: copy + below, as: action)
        }
    }
    try replace("1.1", actions[0])
    try replace("3.1-1", actions[1])
    try migrations.whenMigrating(toVersion: "3.2", unlessRunBy: old) {
        print("run 3.2")
        try add("m3.2", to: data + "/in-place", as: actions[2])
    }
    try migrations.whenMigrating(toVersion: "4.0", replacing: top) { copy, _ in
        print("run 4.0")
        try add("m4.0", to: copy + below, as: actions[3])
    }
    print("done \(migrations.lastRunVersion)")
} catch {
    print("error \(error)")
}
