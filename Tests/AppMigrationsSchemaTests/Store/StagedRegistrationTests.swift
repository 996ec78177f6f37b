import Testing

@testable import AppMigrationsSQLite
@testable import AppMigrationsSchema

/// Stores that only the connections of an app can use, and an SQLite with other defaults.
@Suite(.temporaryDirectory) struct StagedRegistrationTests {
    private let path = TemporaryDirectory.current.file("store")

    private func makeStore() throws -> SQLiteStore {
        let db = try SQLiteConnection(path: path)
        try AppRegistrations.register(on: db.handle)
        try db.execute(
            script: """
                CREATE TABLE deck(name TEXT COLLATE unicase UNIQUE, same AS (app_same(name)));
                CREATE INDEX by_same ON deck(app_same(name));
                CREATE TABLE card(deck TEXT COLLATE unicase REFERENCES deck(name));
                INSERT INTO deck(name) VALUES ('One'), ('two'); INSERT INTO card VALUES ('one')
                """
        )
        db.close()
        return SQLiteStore(path: path)
    }

    @Test(arguments: [SQLiteStore.Check.quick, .full])
    func `a store with a collation and a function of the app is migrated and checked`(
        check: SQLiteStore.Check
    )
        throws
    {
        let store = try makeStore()
        let error = try sqlError {
            try store.migrateStaged(check: check) { try $0.query("CREATE TABLE further(a)") }
        }
        #expect(error.code == .statementFailed)
        for number in 1...2 {
            let isReplaced = try store.migrateStaged(
                backupExtension: "bak",
                check: check,
                preparing: AppRegistrations.register
            ) {
                try $0.query("INSERT INTO deck(name) VALUES (?)", [.text("new \(number)")])
                try $0.query("INSERT INTO card VALUES (?)", [.text("NEW \(number)")])
            }
            #expect(isReplaced)
        }
        let violation = try sqlError {
            try store.migrateStaged(check: check, preparing: AppRegistrations.register) {
                try $0.query("PRAGMA foreign_keys = OFF")
                try $0.query("INSERT INTO card VALUES ('missing')")
            }
        }
        #expect(violation.code == .foreignKeyViolation)
    }

    @Test func `an error of the preparing closure leaves the store`() throws {
        let store = try makeStore()
        let before = try Wreck.bytes(path)
        let error = try sqlError {
            try store.migrateStaged(preparing: { _ in throw Failure() }) { _ in Issue.record("run") }
        }
        #expect(error.message.hasPrefix("The preparing closure failed: Failure()"))
        #expect(try Wreck.bytes(path) == before)
    }

    @Test func `a function that is not innocuous is no damage`() throws {
        let store = try makeStore()
        let db = try SQLiteConnection(path: path)
        try AppRegistrations.register(on: db.handle)
        try db.query("PRAGMA trusted_schema = OFF")
        let migrator = try Migrator(Migration.numbered(["CREATE TABLE further(a)"]))
        for error in [
            try sqlError { try db.query("SELECT 1 FROM deck") }, try sqlError { try migrator.migrate(db) },
        ] {
            #expect(error.code == .statementFailed)
            #expect(error.extendedResultCode == 11)
            #expect(
                error.message
                    == "malformed database schema (deck) - unsafe use of app_same(). The schema isn't damaged, but PRAGMA"
                    + " trusted_schema is off on this connection. Register the function as SQLITE_INNOCUOUS, or turn"
                    + " the pragma on"
            )
            #expect((error.line, error.column) == (nil, nil))
        }
        try db.query("PRAGMA trusted_schema = ON")
        #expect(try migrator.migrate(db).applied == [1])
        let status = try store.status(
            target: "",
            preparing: { handle in
                try AppRegistrations.register(on: handle)
                try SQLiteConnection(borrowing: handle).query("PRAGMA trusted_schema = ON")
            }
        )
        #expect(!status.description.contains("damaged"))
        let refused = try sqlError {
            try store.status(
                target: "",
                preparing: { handle in
                    try AppRegistrations.register(on: handle)
                    try SQLiteConnection(borrowing: handle).query("PRAGMA trusted_schema = OFF")
                }
            )
        }
        #expect(refused.code == .statementFailed)
    }

    @Test func `an SQLite whose connections keep their locks migrates a copy`() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = SQLiteStore(path: path)
            let db = try SQLiteConnection(path: path)
            try db.execute(script: "CREATE TABLE note(a); INSERT INTO note VALUES (1)")
            db.close()
            try AppRegistrations.keepLocks()
            let other = try SQLiteConnection(path: path + " 2")
            try #require(try other.query("PRAGMA locking_mode") == [["exclusive"]])
            for _ in 0..<2 {
                let isReplaced = try store.migrateStaged(backupExtension: "bak", lockTimeout: .zero) {
                    try $0.query("INSERT INTO note VALUES (2)")
                }
                try #require(isReplaced)
            }
            let reopened = try store.open(check: .full, busyTimeout: .zero) { _ in }
            try #require(try reopened.query("SELECT count(*) FROM note") == [[3]])
        }
    }
}
