import AppMigrations
import AppMigrationsSQLite
import Foundation
import Measuring

/// Rows that are changed in batches: by a runner that keeps a cursor, and by nothing but the same transactions.
struct ManyRows {
    let folder: String
    let journal: String
    let count: Int64 = 300_000
    let batch: Int64 = 500

    private var path: String { folder + "/batches.sqlite" }

    private func made() throws -> Connection {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let db = try Connection(path: path)
        try db.query("PRAGMA journal_mode = \(journal)")
        try db.execute(
            script: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, folded TEXT);
                WITH RECURSIVE number(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
                INSERT INTO note SELECT n, 'Title of note ' || n, NULL FROM number;
                """
        )
        return db
    }

    private func measured(_ body: (Connection) throws -> Void) throws -> Double {
        let db = try made()
        let time = try nanoseconds { try body(db) }
        if try db.query("SELECT count(*) FROM note WHERE folded IS NULL") != [[0]] {
            throw IdleError.wrongCount
        }
        db.close()
        try FileManager.default.removeItem(atPath: folder)
        return time
    }

    private func fold(_ db: Connection, after last: Int64) throws {
        try db.query(
            "UPDATE note SET folded = lower(title) WHERE id > ? AND id <= ?",
            [SQLValue(last), SQLValue(last + batch)]
        )
    }

    func withCursor() throws -> Double {
        try measured { db in
            let manager = try MigrationManager(
                named: "Batches",
                currentVersion: "2.0",
                firstRun: .everything,
                stateDirectory: folder + "/state"
            )
            try manager.whenMigrating(toVersion: "2.0", in: db) { db, batch, _ in
                let last = try batch.cursor(as: Int64.self) ?? 0
                try fold(db, after: last)
                let next = last + self.batch
                return next == count ? .done : .continue(at: next, progress: Double(next) / Double(count))
            }
        }
    }

    func without() throws -> Double {
        try measured { db in
            for last in stride(from: 0, to: count, by: Int(batch)) {
                try db.transaction { try fold(db, after: last) }
            }
        }
    }
}

@MainActor func measureBatches() throws {
    for (name, place) in [("disk", scratch), ("memory", memory)] {
        for journal in ["delete", "wal"] {
            let rows = ManyRows(folder: place + "/batches", journal: journal)
            let ratio = try pairedRatio(7, { try rows.withCursor() }, { try rows.without() })
            report.ratio(
                "300,000 rows in batches of 500, \(journal), \(name): time with cursors",
                ratio,
                atMost: 1.1
            )
        }
    }
}
