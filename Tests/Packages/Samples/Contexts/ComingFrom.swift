import AppMigrations
import AppMigrationsSQLite
import Foundation
import Testing

@Suite struct ComingFrom {
    // Sample 1 of ComingFromSModel.md

    func takingOver(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) throws {
        // Sample 2 of ComingFromSModel.md
    }

    @Test func `the number of sModel is found in either place`() throws {
        let scripts = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE c(x)"]
        let migrator = try SQLiteMigrator(SQLiteMigration.numbered(scripts))
        let older = "\(scripts[0]); \(scripts[1]); PRAGMA user_version = 2"
        let newer = """
            \(scripts[0]); \(scripts[1]); PRAGMA user_version = 1002;
            CREATE TABLE "_sModel_DBDefTracker" (
                "namespace" TEXT PRIMARY KEY, "version" INTEGER, "lastUpdated" REAL, lastHash TEXT
            );
            INSERT INTO "_sModel_DBDefTracker" VALUES ('', 2, 0, ''), ('songs', 7, 0, '')
            """
        for (left, songs) in [(older, Int64(0)), (newer, 7), ("", 0)] {
            let db = try database(left)
            #expect(try numberOfSModel(in: db, namespace: "songs") == songs)
            #expect(try numberOfSModel(in: db, namespace: "others") == 0)
            for _ in 1...2 { try takingOver(migrator, db) }
            #expect(try migrator.status(db).applied == [1, 2, 3])
        }
    }
}
