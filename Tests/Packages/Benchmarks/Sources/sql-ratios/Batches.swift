import AppMigrations
import AppMigrationsSQLite
import Foundation
import Measuring

/// Rows that are changed in batches: by a runner that keeps a cursor, and by the same transactions with a cursor that
/// is kept by hand.
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

    /// As in the guide: rows are read, changed in Swift and written one by one.
    private func fold(_ db: Connection, after last: Int64) throws {
        let notes = try db.query(
            "SELECT id, title FROM note WHERE id > ? ORDER BY id LIMIT ?",
            [SQLValue(last), SQLValue(batch)]
        )
        for note in notes {
            guard case .text(let title) = note[1] else { throw IdleError.wrongCount }
            try db.query("UPDATE note SET folded = ? WHERE id = ?", [SQLValue(title.lowercased()), note[0]])
        }
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

    func byHand() throws -> Double {
        try measured { db in
            try db.query(
                "CREATE TABLE cursor(manager TEXT, version TEXT, cursor TEXT, UNIQUE (manager, version))"
            )
            try db.query("INSERT INTO cursor VALUES ('Batches', '2.0', '0')")
            for last in stride(from: 0, to: count, by: Int(batch)) {
                try db.transaction {
                    try fold(db, after: last)
                    try db.query(
                        "UPDATE cursor SET cursor = ? WHERE manager = 'Batches' AND version = '2.0'",
                        [.text("\(last + batch)")]
                    )
                }
            }
        }
    }
}

@MainActor func measureBatches() throws {
    for (name, place, journal) in [
        ("disk", scratch, "delete"), ("disk", scratch, "wal"), ("memory", memory, "wal"),
    ] {
        let rows = ManyRows(folder: place + "/batches", journal: journal)
        let ratio = try pairedRatio(3, { try rows.withCursor() }, { try rows.byHand() })
        report.ratio(
            "300,000 rows in batches of 500, \(journal), \(name): against a cursor by hand",
            ratio,
            atMost: 1.1
        )
    }
}
