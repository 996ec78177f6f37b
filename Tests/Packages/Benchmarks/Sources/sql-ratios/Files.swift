import AppMigrationsSQLite
import CMeasure
import Foundation
import GRDB
import Measuring

/// A folder of small SQL files, and the ways to run each of them in a transaction of its own.
struct SmallFiles {
    let folder: String
    let count: Int
    let foreignKeys: Bool

    private func text(_ number: Int) -> String {
        """
        CREATE TABLE t\(number)(id INTEGER PRIMARY KEY, name TEXT NOT NULL, written REAL, first REFERENCES t1);
        INSERT INTO t\(number)(name, written, first) VALUES ('first', 1.5, 1), ('second', 2.5, 1), ('third', 3.5, 2);
        """
    }

    var path: String { folder + "/db" }
    private var allInOne: String { folder + "/all.txt" }

    /// Writes the files, and all of them in one for the shell, which writes less where it has no ledger.
    func write(hasLedger: Bool) throws {
        let ledger =
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL, name, checksum, applied_at);\n"
        var all = hasLedger ? ledger : ""
        for number in 1...count {
            try Data(text(number).utf8).write(to: URL(filePath: "\(folder)/\(number)_table.sql"))
            all += "BEGIN IMMEDIATE;\n\(text(number))\n"
            if hasLedger {
                let values =
                    "\(number), 'table', 'fnv1a:0123456789abcdef', strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
                all += "INSERT INTO schema_migrations VALUES (\(values));\n"
            }
            all += "COMMIT;\n"
        }
        try Data(all.utf8).write(to: URL(filePath: allInOne))
    }

    private func clear() throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// The files found, read, checked and run, with the ledger.
    func ours() throws -> Double {
        try clear()
        return try nanoseconds {
            let db = try Connection(path: path)
            if foreignKeys { try db.query("PRAGMA foreign_keys = ON") }
            try SQLMigrator(SQLMigration.files(in: folder)).migrate(db)
            db.close()
        }
    }

    func grdb() throws -> Double {
        try clear()
        return try nanoseconds {
            var migrator = DatabaseMigrator()
            for number in 1...count {
                migrator.registerMigration("\(number)") { db in
                    try db.execute(
                        sql: String(contentsOfFile: "\(folder)/\(number)_table.sql", encoding: .utf8)
                    )
                }
            }
            var configuration = Configuration()
            configuration.foreignKeysEnabled = foreignKeys
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try migrator.migrate(queue)
            try queue.close()
        }
    }

    /// The files' SQL through the command line, as `sqlite3 db ".read all.txt"`.
    func shell() throws -> Double {
        try clear()
        let keys = "PRAGMA foreign_keys = \(foreignKeys ? "ON" : "OFF")"
        return try outside(["/usr/bin/sqlite3", "-bail", "-cmd", keys, path, ".read '\(allInOne)'"])
    }
}

@MainActor func measureFiles() throws {
    for (name, place, hasLedger, foreignKeys) in [
        ("disk", scratch, false, false), ("memory", memory, true, false),
        ("memory, foreign keys on", memory, true, true),
    ] {
        let files = SmallFiles(folder: place + "/files", count: 500, foreignKeys: foreignKeys)
        try FileManager.default.createDirectory(atPath: files.folder, withIntermediateDirectories: true)
        try files.write(hasLedger: hasLedger)
        let shell = try pairedRatio(25, { try files.ours() }, { try files.shell() })
        report.ratio(
            "500 files, \(name): time against the shell\(hasLedger ? " with a ledger" : "")",
            shell,
            atMost: 1.2
        )
        let grdb = try pairedRatio(5, { try files.ours() }, { try files.grdb() })
        report.ratio("the same: time against GRDB's migrator", grdb, atMost: 1.1)
    }
}
