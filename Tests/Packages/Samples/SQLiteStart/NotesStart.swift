import AppMigrationsSchema
import Foundation

/// A newer release has migrated the database.
struct NewerNotes: Error {}

nonisolated func notesMigrator() throws -> SQLiteMigrator {
    try SQLiteMigrator([
        SQLiteMigration(
            version: 1,
            name: "notes",
            sql: """
                CREATE TABLE note (
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL
                );
                CREATE INDEX note_by_title ON note (title);
                """
        ),
        SQLiteMigration(
            version: 2,
            name: "folded",
            sql: "ALTER TABLE note ADD COLUMN folded TEXT"
        ),
        // `foldTitles` finds its rows by this index.
        SQLiteMigration(
            version: 3,
            name: "unfolded",
            sql: """
                CREATE INDEX unfolded ON note (id)
                WHERE folded IS NULL
                """
        ),
    ])
}

/// The start of the app behind a gate: it doesn't use the main thread.
///
/// The app opens the database after `try await gate.ready()`.
nonisolated func notesGate(at path: String) -> MigrationGate {
    MigrationGate { attempt in
        try attempt.step("Updating the notes…") {
            try openNotes(at: path) { attempt.reportProgress($0) }
        }.close()
    }
}

/// Migrates the notes, at every start, before anything opens them.
nonisolated func openNotes(
    at path: String,
    report: (Double) -> Void = { _ in }
) throws -> SQLiteConnection {
    // Remove `mayBeEncrypted: false` if any release of your app has
    // encrypted its database.
    let store = SQLiteStore(path: path, mayBeEncrypted: false)
    let db = try store.open(recovering: restoreBackup)
    do {
        return try migrateNotes(db, in: store, report)
    } catch let error as SQLError {
        guard error.code == .damaged else { throw error }
    }
    // A migration was the first to read the damaged table.
    let mended = try store.open(
        check: .quick,
        recovering: restoreBackup
    )
    return try migrateNotes(mended, in: store, report)
}

/// Puts the backup of the last migration in place of a damaged store.
nonisolated func restoreBackup(
    _ damaged: SQLiteStore.SetAside
) throws {
    print("The database is damaged. It is now \(damaged.path)")
    let backup = damaged.storePath + ".bak"
    guard FileManager.default.fileExists(atPath: backup) else {
        return
    }
    // A backup that is damaged, or looks like one of a newer SQLite,
    // would keep the app from every later start.
    let status = try SQLiteStore(path: backup)
        .status(target: "", check: .quick)
    switch status {
    case .same, .migratable, .undecided: break
    default: return
    }
    try FileManager.default.copyItem(
        atPath: backup,
        toPath: damaged.storePath
    )
}

/// Keeps the backup of a database that has disappeared.
///
/// The database is a new one, so the next migration would replace the
/// backup by one without notes. If your app deletes its database, it
/// has to delete the backup too.
nonisolated private func keepBackup(of store: SQLiteStore) throws {
    let backup = store.path + ".bak"
    guard FileManager.default.fileExists(atPath: backup) else {
        return
    }
    let kept = "\(backup)-\(UUID().uuidString)"
    try FileManager.default.moveItem(atPath: backup, toPath: kept)
    print("The database was lost. Its backup is now \(kept)")
}

nonisolated private func migrateNotes(
    _ db: SQLiteConnection,
    in store: SQLiteStore,
    _ report: (Double) -> Void
) throws -> SQLiteConnection {
    let migrator = try notesMigrator()
    do {
        try recordOldMigrations(db, migrator)
        let status = try migrator.status(db)
        if status.pending.isEmpty {
            try store.removeLeftovers()
            try foldTitles(in: db)
            return db
        }
        if status.applied.isEmpty { try keepBackup(of: store) }
    } catch {
        db.close()
        throw error
    }
    db.close()
    // The copy is checked, and replaces the store as a whole.
    try store.migrateStaged(
        backupExtension: "bak",
        progress: { progress in
            report(progress.fraction)
            return .continue
        },
        body: { copy in try migrator.migrate(copy) }
    )
    let migrated = try SQLiteConnection(path: store.path)
    try foldTitles(in: migrated)
    return migrated
}

/// Records what a release without this library has done.
nonisolated func recordOldMigrations(
    _ db: SQLiteConnection,
    _ migrator: SQLiteMigrator
) throws {
    // Ask for the version before the status, because another
    // process may migrate the database between the two.
    let old = try max(versionFound(in: db), db.userVersion)
    let status = try migrator.status(db)
    guard status.unknownVersions.isEmpty else { throw NewerNotes() }
    if status.applied.isEmpty {
        try migrator.markApplied(
            upTo: old,
            in: db,
            repairingLedger: status.hasMigrationsTable
        )
    }
}

/// Returns the newest version whose tables exist, or 0.
nonisolated func versionFound(
    in db: SQLiteConnection
) throws -> Int64 {
    let columns = try db.query(
        "SELECT name FROM pragma_table_info('note')"
    )
    if columns.contains(["folded"]) { return 2 }
    return columns.isEmpty ? 0 : 1
}

/// Converts the rows that still need it.
///
/// It also finds the rows of an older release, and what a crash has
/// left.
nonisolated func foldTitles(in db: SQLiteConnection) throws {
    var isDone = false
    while !isDone {
        try Task.checkCancellation()
        try db.transaction {
            let rows = try db.query(
                """
                SELECT id, title FROM note
                WHERE folded IS NULL LIMIT 5000
                """
            )
            for row in rows {
                let title = try row[1].value(as: String.self)
                try db.query(
                    "UPDATE note SET folded = ? WHERE id = ?",
                    [SQLValue(title.lowercased()), row[0]]
                )
            }
            isDone = rows.isEmpty
        }
    }
}
