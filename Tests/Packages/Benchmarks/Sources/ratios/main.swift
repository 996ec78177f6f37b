import AppMigrations
import CMeasure
import Foundation
import Measuring

// The cost of a start beside that of programs that do as much by hand. One line a figure; exit code 1 if one is missed.
// With --ci, see Report.

var report = Report()
let programs = URL(filePath: CommandLine.arguments[0]).absoluteURL.deletingLastPathComponent()
    .path(percentEncoded: false)
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

/// A state in which `count` versions have run, with as many rows of history as asked for.
func state(_ count: Int, history: Int = 0) throws -> String {
    let folder = scratch.appending(path: "\(count)-\(history)").path(percentEncoded: false)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let rows = (0..<history).map { row in
        "    { \"version\" : \"0.\(row)\", \"previousVersion\" : \"0.\(row)\", \"appVersion\" : \"1.0\", "
            + "\"finishedAt\" : \"2026-11-21T03:54:28Z\", \"duration\" : 0.0123, \"attemptCount\" : 1 }"
    }
    let list = rows.isEmpty ? "[]" : "[\n\(rows.joined(separator: ",\n"))\n  ]"
    let text = """
        {
          "format" : 1,
          "name" : "Library",
          "lastRunVersion" : "1.\(count)",
          "baseline" : "1.0",
          "launchedVersion" : "1.\(count)",
          "history" : \(list)
        }

        """
    for name in ["Library.migrations.json", "warm"] {
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
    }
    return folder
}

func probe(_ kind: String, _ folder: String, _ count: Int) -> [String] {
    ["\(programs)/probe", kind, folder, "\(count)"]
}

func cold(_ count: Int, history: Int = 0) throws -> [String] {
    probe("ours", try state(count, history: history), count)
}

// Where UserDefaults writes on Linux: nobody's own are touched.
setenv("XDG_CONFIG_HOME", scratch.appending(path: "preferences").path(percentEncoded: false), 1)
setenv("HOME", scratch.appending(path: "home").path(percentEncoded: false), 1)
try measureProcess()
try measureColdStart()
try measureMigration()
try measureCheckpoint()
try measureVersions()
try measureAsynchronous()

try FileManager.default.removeItem(at: scratch)
report.finish()
