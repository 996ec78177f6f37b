import AppMigrations
import CMeasure
import Foundation
import Measuring

@MainActor func measureCheckpoint() throws {
    let folder = try state(2)
    let manager = try MigrationManager(named: "Library", currentVersion: "1.3", stateDirectory: folder)
    var ratio = Double.infinity
    try manager.whenMigrating(toVersion: "1.3") { context in
        var cursor = 1_000
        try context.saveCheckpoint(cursor, progress: 0.5)
        let text = try String(contentsOfFile: folder + "/Library.migrations.json", encoding: .utf8)
        ratio = try pairedRatio(
            300,
            {
                cursor += 1
                return try nanoseconds { try context.saveCheckpoint(cursor, progress: 0.5) }
            },
            {
                nanoseconds {
                    if measure_c_commit(folder, "reference", text, UInt64(text.utf8.count)) != 0 {
                        report.fail("a commit in C")
                    }
                }
            }
        )
    }
    report.ratio("one checkpoint: time against one durable commit in C", ratio, atMost: 1.15)
}
