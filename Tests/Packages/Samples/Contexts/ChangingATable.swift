import AppMigrationsSQLite
import AppMigrationsSchema
import Foundation
import Testing

@Suite struct ChangingATable {
    // Sample 1 of ChangingATable.md

    @Test func `a table of users gains a last name`() throws {
        let db = try database(
            """
            CREATE TABLE t_AppUser (u_id INTEGER PRIMARY KEY AUTOINCREMENT, u_name TEXT, u_mail TEXT, u_nick);
            CREATE INDEX user_by_nick ON t_AppUser (u_nick);
            CREATE INDEX user_by_name ON t_AppUser (u_name);
            CREATE TABLE t_Order (o_id INTEGER PRIMARY KEY, o_user REFERENCES t_AppUser ON DELETE CASCADE);
            CREATE VIEW v_Order AS SELECT o_id, u_name FROM t_Order JOIN t_AppUser ON u_id = o_user;
            INSERT INTO t_AppUser VALUES (1, 'Ada Lovelace', 'ada@example.org', 'A'), (5, 'Plato', NULL, ''), (9, 'Gone', NULL, '');
            INSERT INTO t_Order VALUES (70, 1), (71, 5); DELETE FROM t_AppUser WHERE u_id = 9;
            """
        )
        try db.query("PRAGMA foreign_keys = ON")
        try usersMigrator().migrate(db)
        try db.query("INSERT INTO t_AppUser(u_name, u_last_name) VALUES ('Émilie', 'du Châtelet')")
        #expect(
            try db.query("SELECT * FROM t_AppUser") == [
                [1, "Ada Lovelace", "Lovelace", "ada@example.org"], [5, "Plato", "", nil],
                [10, "Émilie", "du Châtelet", nil],
            ]
        )
        #expect(try db.query("SELECT * FROM v_Order") == [[70, "Ada Lovelace"], [71, "Plato"]])
        let index = "SELECT name FROM sqlite_master WHERE name = 'user_by_name'"
        #expect(try db.query(index) == [["user_by_name"]])
        #expect(try db.query("PRAGMA foreign_keys") == [[1]])
    }

    // Sample 2 of ChangingATable.md

    @Test(arguments: [
        "alone", "legacy", "empty", "half", "edited", "colored", "deleted", "gone",
    ])
    func `what the recipe left is recovered`(kind: String) throws {
        let fixtures = try #require(Bundle.module.resourcePath) + "/Fixtures/Recipes/"
        let db = try database(read(fixtures + "old.sql") + read(fixtures + kind + ".sql"))
        try db.query("PRAGMA foreign_keys = ON")
        let migrator = try SQLiteMigrator([
            SQLMigration(version: 1) { db, _ in
                try recoverNotes(db, wasCopied: ["edited", "colored", "deleted"].contains(kind))
            }
        ])
        try migrator.migrate(db)
        try recoverNotes(db, wasCopied: false)
        let next: SQLValue = kind == "gone" ? 3 : 101
        try db.query("INSERT INTO note (folder, title) VALUES (1, 'new')")
        try db.execute(script: "INSERT INTO attachment VALUES (30, \(next)); DELETE FROM note WHERE id = 1")
        #expect(try db.query("SELECT * FROM attachment") == [[20, 2], [30, next]])
        if kind == "colored" { #expect(try db.query("SELECT color FROM note WHERE id = 2") == [["red"]]) }
        let edited: [[SQLValue]] = kind == "edited" ? [[2, "edited"], [3, "three"]] : [[2, "two"]]
        #expect(try db.query("SELECT * FROM note_titles") == edited + [[next, "new"]])
        try db.query("UPDATE note SET title = 'x' WHERE id = 2")
        let found = try db.query(
            "SELECT * FROM log UNION ALL SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND sql > ''"
        )
        #expect(found == (kind == "gone" ? [] : [["x"], ["note"]]))
        #expect(try db.query("SELECT 1 FROM sqlite_master WHERE sql LIKE '%note\\_bak%' ESCAPE '\\'") == [])
    }
}
