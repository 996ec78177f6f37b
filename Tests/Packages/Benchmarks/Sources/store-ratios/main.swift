import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Measuring

// What a staged migration costs beside SQLite's own backup, by the sqlite3 shell, of the same database. One line a
// figure; exit code 1 if one is missed. With --ci, see Report.

var report = Report()
let scratch = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: false)
let path = scratch.appending(path: "store").path(percentEncoded: false)
let copy = path + ".copy"

/// 100 MB in a table with an index, on a disk that has taken them.
func makeStore() throws {
    let db = try SQLiteConnection(path: path)
    try db.execute(
        script: """
            CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
            INSERT INTO note SELECT i, 'note ' || i * 7919 % 300000, hex(zeroblob(140)) FROM n;
            CREATE INDEX note_by_title ON note(title)
            """
    )
    db.close()
}

/// The shell's `.backup` is `sqlite3_backup` and nothing else; the copy goes, as a copy without changes does.
func backup() throws -> Double {
    try nanoseconds {
        _ = try spawn(["/usr/bin/env", "sqlite3", path, ".backup '\(copy)'"])
        try FileManager.default.removeItem(atPath: copy)
    }
}

func stage() throws -> Double {
    try nanoseconds { try SQLiteStore(path: path).migrateStaged(check: .off) { _ in } }
}

try makeStore()
let ratio = try pairedRatio(report.isCI ? 5 : 9, stage, backup)
report.ratio("staged copy / backup by the sqlite3 shell", ratio, atMost: 1.2)
try FileManager.default.removeItem(at: scratch)
report.finish()
