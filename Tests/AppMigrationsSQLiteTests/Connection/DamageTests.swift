import AppMigrationsSQLite
import Testing

/// What a connection says of a database that can't be read, wherever a statement meets it.
@Suite(.temporaryDirectory) struct DamageTests {
    let folder = TemporaryDirectory.current.path

    @Test(arguments: [false, true])
    func `damage inside a table is no mistake of the migration`(isBorrowed: Bool) throws {
        let path = folder + "/db"
        try Wreck.makeDamagedInside(path)
        let owner = try SQLiteConnection(path: path)
        let db = isBorrowed ? owner.borrowed : owner
        let file = folder + "/1_wide.sql"
        try write("-- A comment.\nUPDATE note SET body = body || 'x' WHERE body <> ''", to: file)
        let error = try sqlError { try Migrator(Migration.files(in: folder)).migrate(db) }
        #expect(error.code == .damaged)
        #expect((error.extendedResultCode ?? 0) & 0xFF == 11)
        #expect(error.path == owner.path)
        #expect(
            error.description.hasSuffix(
                "No migration mends it: SQLiteStore.open(check:) looks for damage and sets the store aside."
            )
        )
    }

    @Test func `a file that is no database has no place in a statement`() throws {
        try write("a text", to: folder + "/db")
        let db = try SQLiteConnection(path: folder + "/db")
        let errors = try [
            sqlError { try db.query("SELECT 1 FROM sqlite_master") },
            sqlError { try db.execute(script: "CREATE TABLE a(x)") },
            sqlError { try Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]).migrate(db) },
            sqlError { try Migrator([Migration(version: 1, sql: "CREATE TABLE a(x)")]).status(db) },
        ]
        for error in errors {
            #expect(error.code == .damaged)
            #expect(error.extendedResultCode == 26)
            #expect(error.line == nil && error.column == nil)
        }
    }
}
