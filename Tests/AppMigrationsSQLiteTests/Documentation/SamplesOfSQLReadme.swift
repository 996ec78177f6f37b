import AppMigrations
import AppMigrationsSQLite
import Testing

// The README's sample for databases, as it stands there, and what it says of it.

func openDatabase(_ path: String, scripts folder: String) throws -> SQLiteConnection {
    let db = try SQLiteConnection(path: path)
    let migrator = try SQLMigrator<SQLiteConnection>(SQLMigration.files(in: folder))
    try migrator.migrate(db)  // each file once; its row and its work are one transaction
    return db
}

@Suite struct SQLReadmeTests {
    @Test func `the README's function migrates, and finds nothing to do the second time`() throws {
        try withTemporaryFolder { folder in
            try write("CREATE TABLE note(x)", to: folder + "/1_notes.sql")
            for _ in 0..<2 {
                let db = try openDatabase(folder + "/db", scripts: folder)
                #expect(try ledger(of: db) == [1])
            }
        }
    }
}
