import AppMigrations
import AppMigrationsSQLite

// The samples of the landing page and the articles of AppMigrationsSQLite, as they stand there.

struct SQLArticleSamples {
    /// What the samples call of the app.
    var call: (String) -> Void = { _ in }

    func landingPage(folder: String, path: String) throws {
        let migrator = try SQLiteMigrator(SQLiteMigration.files(in: folder))
        let db = try SQLiteConnection(path: path)
        try migrator.migrate(db)
    }

    func whenToCall(
        _ migrator: SQLMigrator<SQLiteConnection>,
        _ migrations: MigrationManager,
        _ db: SQLiteConnection,
        path: String,
        folder: String
    ) throws {
        try migrations.whenMigrating(toVersion: "2.2") {
            try exportAttachments(to: folder)
        }
        try migrations.whenMigrating(toVersion: "2.3") {
            try migrator.migrate(db, to: 17)
        }

        try migrations.whenMigrating(
            toVersion: "2.4",
            in: SQLiteConnection(path: path)
        ) { db in
            try db.query("UPDATE account SET balance = balance * 100")
        }
    }

    func waiting(_ migrator: SQLMigrator<SQLiteConnection>, _ db: SQLiteConnection) throws {
        try migrator.migrate(
            db,
            waiting: { log("another process migrates the database") }
        )
    }

    func oneLedgerOneOwner(noteScripts: [String], songScripts: [String]) throws -> [SQLiteMigrator] {
        let notes = try SQLiteMigrator(
            SQLiteMigration.numbered(noteScripts),
            ledger: "note_migrations"
        )
        let songs = try SQLiteMigrator(
            SQLiteMigration.numbered(songScripts),
            ledger: "song_migrations"
        )
        return [notes, songs]
    }

    func anotherLibrary(_ migrator: SQLMigrator<SQLiteConnection>, _ db: SQLiteConnection) throws {
        do {
            try migrator.baseline(db, at: db.userVersion)
        } catch {
            guard error.code == .unknownTarget else { throw error }
            return showUpdateTheApp()
        }
        try migrator.migrate(db)
    }

    func readingAnError(_ migrator: SQLMigrator<SQLiteConnection>, _ db: SQLiteConnection) {
        do {
            try migrator.migrate(db)
        } catch {
            log(error.description)
            switch error.code {
            case .busy: showTryAgain()
            case .diskFull: showFreeSpace()
            default: showRecovery()
            }
        }
    }

    func newerDatabase(_ migrator: SQLMigrator<SQLiteConnection>, _ db: SQLiteConnection) throws {
        let status = try migrator.status(db)
        if !status.unknown.isEmpty { return showUpdateTheApp() }
    }

    private func exportAttachments(to folder: String) throws { call("export") }
    private func log(_ text: String) { call(text) }
    private func showTryAgain() { call("try again") }
    private func showFreeSpace() { call("free space") }
    private func showRecovery() { call("recovery") }
    private func showUpdateTheApp() { call("update the app") }
}

func numberOfSModel(
    in db: SQLiteConnection,
    namespace: String = ""
) throws -> Int64 {
    let number = try db.userVersion
    if number < 1_000 { return namespace.isEmpty ? number : 0 }
    let rows = try db.query(
        """
        SELECT version FROM "_sModel_DBDefTracker"
        WHERE namespace = ?
        """,
        [SQLValue(namespace)]
    )
    return try rows.first?[0].value(as: Int64.self) ?? 0
}

func takingOverSModel(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) throws {
    let number = try numberOfSModel(in: db)
    try migrator.baseline(db, at: number)
    try migrator.migrate(db)
}

func textsAndClosures(folder: String) throws -> SQLMigrator<SQLiteConnection> {
    let migrator = try SQLiteMigrator(
        SQLiteMigration.files(in: folder) + [
            SQLiteMigration(
                version: 40,
                name: "index_notes",
                sql: "CREATE INDEX note_date ON note(date)"
            ),
            SQLiteMigration(version: 41, name: "fold_titles") { db in
                for row in try db.query("SELECT id, title FROM note") {
                    guard case .text(let title) = row[1] else {
                        continue
                    }
                    try db.query(
                        "UPDATE note SET folded = ? WHERE id = ?",
                        [SQLValue(title.lowercased()), row[0]]
                    )
                }
            },
        ]
    )
    return migrator
}

func longWork(_ migrations: MigrationManager, _ db: SQLiteConnection, newest: Int64) throws {
    try migrations.whenMigrating(
        toVersion: "2.0",
        in: db
    ) { db, batch, _ in
        let last = try batch.cursor(as: Int64.self) ?? 0
        let notes = try db.query(
            """
            SELECT id, title FROM note WHERE id > ?
            ORDER BY id LIMIT 500
            """,
            [SQLValue(last)]
        )
        for note in notes {
            guard case .text(let title) = note[1] else { continue }
            try db.query(
                "UPDATE note SET folded = ? WHERE id = ?",
                [SQLValue(title.lowercased()), note[0]]
            )
        }
        guard case .integer(let id) = notes.last?[0] else {
            return .done
        }
        return .continue(at: id, progress: Double(id) / Double(newest))
    }
}

func foldingTitles(_ migrations: MigrationManager, _ db: SQLiteConnection) throws {
    try migrations.whenMigrating(toVersion: "2.0", in: db) { db, batch, context in
        let last = try batch.cursor(as: Int64.self) ?? 0
        let next = try foldTitles(of: 500, after: last, in: db)
        return next.map { .continue(at: $0) } ?? .done
    }
}

/// Folds so many titles, and gives the last one's number; `nil` where none is left.
private func foldTitles(of count: Int, after last: Int64, in db: SQLiteConnection) throws -> Int64? {
    let ids = try db.fetch(
        Int64.self,
        "UPDATE note SET folded = lower(title) WHERE id > ? AND id <= ? RETURNING id",
        [SQLValue(last), SQLValue(last + Int64(count))]
    )
    return ids.max()
}
