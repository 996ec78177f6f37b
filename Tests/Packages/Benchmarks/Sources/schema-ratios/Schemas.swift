import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation

let createTable = """
    CREATE TABLE note (
        id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, title TEXT NOT NULL, body TEXT, created REAL NOT NULL,
        color TEXT NOT NULL DEFAULT 'none'
    )
    """

let createIndex = "CREATE INDEX note_by_folder ON note(folder, created)"

/// The statements of a rebuild, as somebody who knows all of them would write them.
let sameSQL = """
    PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; BEGIN IMMEDIATE;
    ALTER TABLE note RENAME TO note_old;
    \(createTable);
    INSERT INTO note(id, folder, title, body, created) SELECT id, folder, title, body, created FROM note_old;
    DROP TABLE note_old; \(createIndex); COMMIT;
    """

func rebuild(_ db: SQLiteConnection) throws { try TableRebuild("note", as: createTable).run(db) }

/// The most memory that this program has had at once, in KiB ("proc_pid_status", VmHWM).
func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return line.split(whereSeparator: { $0.isWhitespace }).compactMap { Int($0) }.first ?? 0
}

/// The path of the sqlite3 shell.
let shell =
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/sqlite3" }
    .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/usr/bin/sqlite3"

@MainActor func database(rows: Int) throws -> String {
    let path = scratch.appending(path: "\(rows).db").path(percentEncoded: false)
    let db = try SQLiteConnection(path: path)
    try db.transaction {
        try db.execute(
            script: """
                CREATE TABLE note (
                    id INTEGER PRIMARY KEY, folder INTEGER, title TEXT NOT NULL, body TEXT, created REAL NOT NULL
                );
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO note SELECT i, i % 97, 'Title ' || i, 'Some words of the note ' || i || '.', i / 7.0 FROM n;
                \(createIndex);
                """
        )
    }
    db.close()
    return path
}

/// A database to change, in the file system's cache as the one before it was.
@MainActor func copy(of path: String) throws -> String {
    let target = scratch.appending(path: "copy.db").path(percentEncoded: false)
    if FileManager.default.fileExists(atPath: target) { try FileManager.default.removeItem(atPath: target) }
    try FileManager.default.copyItem(atPath: path, toPath: target)
    return target
}

/// 200 tables, each with ten columns, an index, and a view or a trigger.
func manyTables(separator: String) -> String {
    (0..<200).map { number in
        let columns = (0..<10).map { "column_\($0) TEXT NOT NULL DEFAULT ''" }
        let further =
            number % 2 == 0
            ? "CREATE VIEW view_\(number) AS SELECT id, column_1 FROM table_\(number);"
            : "CREATE TRIGGER trigger_\(number) AFTER INSERT ON table_\(number) BEGIN SELECT new.id; END;"
        return """
            CREATE TABLE table_\(number)(\((["id INTEGER PRIMARY KEY"] + columns).joined(separator: ",\(separator)")));
            CREATE INDEX index_\(number) ON table_\(number)(column_1,\(separator)column_2);
            \(further)

            """
    }.joined()
}
