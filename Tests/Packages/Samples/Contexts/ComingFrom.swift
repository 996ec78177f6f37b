import AppMigrations
import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite struct ComingFrom {
    // Sample 1 of ComingFromSModel.md

    static let table = """
        CREATE TABLE "_sModel_DBDefTracker" (
            "namespace" TEXT PRIMARY KEY, "version" INTEGER,
            "lastUpdated" REAL, lastHash TEXT
        );
        PRAGMA user_version = 1002;
        """

    /// What sModel, a crash of it, or a log-out left.
    ///
    /// A text that ran again would fail.
    @Test func `each database of sModel goes on where it was, and sModel would run nothing again`()
        async throws
    {
        let row = #"INSERT INTO "_sModel_DBDefTracker" VALUES ('', "#
        let databases = [
            "",
            "\(textsOfSModel[0]); PRAGMA user_version = 1",
            "\(textsOfSModel[0]); \(textsOfSModel[1]); PRAGMA user_version = 2",
            "\(textsOfSModel[0]); \(Self.table) \(row) 1, 0, 'hash')",
            "\(textsOfSModel[0]); \(textsOfSModel[1]); \(Self.table) \(row) 2, 0, 'hash')",
            // It crashed before it saved its number.
            "\(textsOfSModel[0]); \(textsOfSModel[1]); \(Self.table) \(row) 1, 0, 'hash')",
            // The app emptied all tables.
            "\(textsOfSModel[0]); \(textsOfSModel[1]); \(Self.table)",
        ]
        for (number, left) in databases.enumerated() {
            try await withFolder { folder async throws in
                let path = "\(folder)/notes \(number).sqlite"
                let before = try SQLiteConnection(path: path)
                if !left.isEmpty { try before.execute(script: left) }
                before.close()
                for _ in 1...2 {
                    let db = try openNotes(at: path)
                    #expect(try notesMigrator().status(db).applied == [1, 2, 3])
                    #expect(try SModelTracker().version(in: db) == 2)
                    db.close()
                }
                // All tables are emptied, the ledger as well.
                let emptied = try openNotes(at: path)
                try emptied.query("DELETE FROM schema_migrations")
                emptied.close()
                let db = try openNotes(at: path)
                #expect(try notesMigrator().status(db).pending.isEmpty)
                db.close()
            }
        }
    }

    @Test func `a newer release and a beta are left alone, and a damaged file is renamed`() async throws {
        try await withFolder { folder async throws in
            let path = folder + "/notes.sqlite"
            let db = try openNotes(at: path)
            let newer = SQLiteMigration(version: 4, sql: "CREATE TABLE newer(x)")
            try SQLiteMigrator(SModelTracker().migrations(textsOfSModel) + [newer]).migrate(db)
            db.close()
            #expect(throws: NewerNotes.self) { try openNotes(at: path) }
            let beta = try SQLiteConnection(path: folder + "/beta.sqlite")
            try beta.execute(script: "\(textsOfSModel[0]); \(textsOfSModel[1]); PRAGMA user_version = 3")
            beta.close()
            #expect(throws: NewerNotes.self) { try openNotes(at: folder + "/beta.sqlite") }
            let damaged = folder + "/damaged.sqlite"
            try Data("This is no database, whatever its name says.".utf8).write(to: URL(filePath: damaged))
            try openNotes(at: damaged).close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.contains { $0.hasPrefix("damaged.sqlite-corrupt-") })
        }
    }
}
