import Testing

@testable import AppMigrationsSQLite

/// The pragmas and statements that a script in a transaction may not have, and the words that say why.
@Suite(.temporaryDirectory) struct RefusedPragmaTests {
    @Test(arguments: [
        (
            "PRAGMA foreign_keys = ON",
            "PRAGMA foreign_keys: SQLite ignores it there. Remove the statement: if foreign keys are on, a migrator turns them off"
                + " while a migration runs, and checks them before the commit"
        ),
        (
            "PRAGMA defer_foreign_keys = ON",
            "PRAGMA defer_foreign_keys: it isn't needed. Remove the statement: if foreign keys are on, a migrator turns them off"
                + " while a migration runs, and checks them before the commit"
        ),
        (
            "PRAGMA user_version = 5",
            "PRAGMA user_version: a migrator uses its ledger instead. If another program reads this number, set it in a"
                + " migration with a closure"
        ),
        (
            "PRAGMA main.application_id = 5",
            "PRAGMA application_id: a migrator uses its ledger instead. If another program reads this number, set it in a"
                + " migration with a closure"
        ),
        (
            "PRAGMA Legacy_Alter_Table(1)",
            "PRAGMA Legacy_Alter_Table: it would stay set on the connection after the migration. Use a migration with a closure,"
                + " which sets it back"
        ),
        (
            "PRAGMA journal_mode = WAL",
            "PRAGMA journal_mode: SQLite doesn't change it there. Set it on the connection before the migrator runs"
        ),
        (
            "PRAGMA cache_size = 7",
            "PRAGMA cache_size: SQLite may ignore it there, or it would stay set after the migration. Set it on the connection before"
                + " the migrator runs"
        ),
    ])
    func `a pragma is refused with the reason for this one`(statement: String, reason: String) throws {
        try expectRefused(statement, "A script in a transaction may not set " + reason)
    }

    @Test(arguments: ["VACUUM", "vacuum main", "/* small */ VACUUM INTO 'copy'"])
    func `a VACUUM is refused before it runs`(statement: String) throws {
        try expectRefused(
            statement,
            "A script in a transaction may not VACUUM: SQLite doesn't run it there. Run it on the connection, after the migrator has"
                + " returned"
        )
    }

    private func expectRefused(_ statement: String, _ message: String) throws {
        let db = try memory()
        let script = "CREATE TABLE a(x);\n\(statement);\n"
        for connection in [db, SQLiteConnection(borrowing: db.handle)] {
            let error = try sqlError {
                try Migrator([Migration(version: 1, sql: script)]).migrate(connection)
            }
            #expect(error.code == .refusedStatement)
            #expect(error.message == message)
            #expect(error.line == 2)
        }
        let other = SQLMigration<OtherConnection>(version: 1, sql: script)
        let second = try sqlError { try SQLMigrator([other]).migrate(OtherConnection(db)) }
        #expect([.refusedStatement, .migrationFailed, .statementFailed].contains(second.code), "\(second)")
        #expect(try tables(in: db) == [])
    }

    @Test func `a closure may set the number that another program reads`() throws {
        let db = try memory()
        try Migrator([Migration(version: 1) { db, _ in try db.query("PRAGMA user_version = 5") }]).migrate(db)
        #expect(try db.userVersion == 5)
    }
}
