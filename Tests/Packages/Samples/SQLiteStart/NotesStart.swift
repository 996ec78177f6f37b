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
        try openNotes(at: path, during: attempt).close()
    }
}

/// Migrates the notes, at every start, before anything opens them.
nonisolated func openNotes(
    at path: String,
    during attempt: MigrationGate.Attempt? = nil
) throws -> SQLiteConnection {
    // Remove `mayBeEncrypted: false` if any release of your app has
    // encrypted its database.
    let store = SQLiteStore(path: path, mayBeEncrypted: false)
    let db = try store.open(recovering: restoreBackup)
    do {
        return try migrateNotes(db, in: store, during: attempt)
    } catch let error as SQLError {
        // A migration may be the first to read a damaged table, and
        // can fail there with another error.
        var wasDamaged = false
        let mended = try store.open(check: .quick) { damaged in
            wasDamaged = true
            try restoreBackup(damaged)
        }
        if !wasDamaged {
            guard error.code == .damaged else {
                mended.close()
                throw error
            }
            // Only an index has other rows than its table.
            try mended.query("REINDEX")
        }
        return try migrateNotes(mended, in: store, during: attempt)
    }
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

/// Keeps the backup if the database was lost.
///
/// The ledger is empty, so this release has never migrated this
/// database: it is a new one, an old one, or that of an older release.
/// The next migration would replace the backup by one of it. If your
/// app deletes its database, it has to delete the backup too.
nonisolated private func keepBackup(of store: SQLiteStore) throws {
    // The backup is beside the file to which a link leads.
    let file = URL(filePath: store.path).resolvingSymlinksInPath()
    let backup = file.path(percentEncoded: false) + ".bak"
    guard FileManager.default.fileExists(atPath: backup) else {
        return
    }
    // If the database is damaged, its backup is needed.
    let status = try store.status(target: "", check: .quick)
    if case .damaged(let error) = status { throw error }
    let kept = "\(backup)-\(UUID().uuidString)"
    try FileManager.default.moveItem(atPath: backup, toPath: kept)
    print("The backup of another database is now \(kept)")
}

nonisolated private func migrateNotes(
    _ db: SQLiteConnection,
    in store: SQLiteStore,
    during attempt: MigrationGate.Attempt?
) throws -> SQLiteConnection {
    let migrator = try notesMigrator()
    do {
        if try migrator.status(db).applied.isEmpty {
            // Ask again in a transaction, because another process
            // may have migrated the database, and made its backup.
            try db.transaction {
                if try migrator.status(db).applied.isEmpty {
                    try keepBackup(of: store)
                }
            }
        }
        try recordOldMigrations(db, migrator)
        let status = try migrator.status(db)
        if status.pending.isEmpty {
            try store.removeLeftovers()
            try foldTitles(in: db)
            return db
        }
    } catch {
        db.close()
        throw error
    }
    db.close()
    // The copy is checked, and replaces the store as a whole.
    func migrateStaged() throws {
        try store.migrateStaged(
            backupExtension: "bak",
            progress: { progress in
                attempt?.reportProgress(progress.fraction)
                return .continue
            },
            body: { copy in try migrator.migrate(copy) }
        )
    }
    if let attempt {
        try attempt.step("Updating the notes…", migrateStaged)
    } else {
        try migrateStaged()
    }
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

/// What an extension calls, each time it reads notes.
///
/// It returns `nil` if the user has to open the app first.
nonisolated func readInExtension<Value>(
    at path: String,
    _ body: (SQLiteConnection) throws -> Value
) throws -> Value? {
    switch try SQLiteStore(path: path).status(target: "") {
    case .missing: return nil
    // SQLite would remove the log of an empty file.
    case .damaged(let error): throw error
    default: break
    }
    let db = try SQLiteConnection(path: path, readOnly: true)
    defer { db.close() }
    // One transaction, so that no row changes in between.
    try db.query("BEGIN")
    let status = try notesMigrator().status(db)
    guard status.unknownVersions.isEmpty else { throw NewerNotes() }
    guard status.pending.isEmpty else { return nil }
    // An older release may have written.
    let unfolded = try db.query(
        "SELECT 1 FROM note WHERE folded IS NULL LIMIT 1"
    )
    return try unfolded.isEmpty ? body(db) : nil
}
