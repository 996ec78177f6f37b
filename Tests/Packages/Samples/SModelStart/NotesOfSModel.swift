import AppMigrationsSQLite
import AppMigrationsSchema

struct NewerNotes: Error {}

/// The texts of your newest release with sModel, in their order.
///
/// The texts 2 and 3 came with the same release.
let textsOfSModel = [
    "CREATE TABLE note (title TEXT, stars INTEGER)",
    "ALTER TABLE note ADD COLUMN folded TEXT",
    "UPDATE note SET stars = stars * 2",
]

func notesMigrator() throws -> SQLiteMigrator {
    // Add new migrations at the end.
    try SQLiteMigrator(
        SModelTracker().migrations(textsOfSModel) + [
            SQLiteMigration(
                version: 4,
                name: "index",
                sql: "CREATE INDEX note_by_title ON note (title)"
            )
        ]
    )
}

/// Returns the newest version whose work is there, or 0.
func versionFound(in db: SQLiteConnection) throws -> Int64 {
    let columns = try db.query(
        "SELECT name FROM pragma_table_info('note')"
    )
    let indexes = try db.query(
        "SELECT name FROM pragma_index_list('note')"
    )
    // Ask for the number after the columns, because another
    // process may migrate the database between the two.
    let number = try SModelTracker().version(in: db)
    if indexes.contains(["note_by_title"]) { return 4 }
    if columns.contains(["folded"]) {
        // Text 3 only changes rows, so it leaves no trace. It came
        // with text 2, in the same transaction. See below.
        return number < 2 ? 3 : 2
    }
    return columns.isEmpty ? 0 : 1
}

/// Records what sModel has run, without running it again.
func continueFromSModel(
    _ db: SQLiteConnection,
    _ migrator: SQLiteMigrator
) throws {
    let sModel = SModelTracker()
    let last = Int64(textsOfSModel.count)
    // Ask for the numbers before the status, because another
    // process may migrate the database between the two.
    let found = try versionFound(in: db)
    let number = try sModel.version(in: db)
    let old = max(found, number)
    let status = try migrator.status(db)
    guard number <= last, status.unknownVersions.isEmpty else {
        throw NewerNotes()
    }
    if (status.latestAppliedVersion ?? 0) < old {
        try migrator.markApplied(
            upTo: old,
            in: db,
            repairingLedger: status.hasMigrationsTable
        )
    }
    // For users who go back to a release with sModel.
    try sModel.raiseVersion(to: min(old, last), in: db)
}

/// Call it at every start, before anything opens the database.
func openNotes(at path: String) throws -> SQLiteConnection {
    func report(_ damaged: SQLiteStore.SetAside) {
        print("The database is damaged, and now \(damaged.path)")
    }
    func migrate(_ db: SQLiteConnection) throws {
        let migrator = try notesMigrator()
        // If your app enforces foreign keys, turn them on here. Only
        // then the result of a migration is checked.
        try continueFromSModel(db, migrator)
        let report = try migrator.migrate(db)
        print("Migrations applied: \(report.applied)")
    }
    // Remove `mayBeEncrypted: false` if any release of your app
    // has encrypted its database.
    let store = SQLiteStore(path: path, mayBeEncrypted: false)
    let db = try store.open(recovering: report)
    do {
        try migrate(db)
        return db
    } catch let error as SQLError {
        db.close()
        guard error.code == .damaged else { throw error }
    }
    // A migration was the first to read the damaged table.
    let mended = try store.open(check: .quick, recovering: report)
    try migrate(mended)
    return mended
}

/// Call it at a log-out, in place of `truncateAllTables`.
func deleteAllNotes(in db: SQLiteConnection) throws {
    try SModelTracker.deleteAllRows(in: db)
}
