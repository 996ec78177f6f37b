import AppMigrationsSQLite
import Testing

@Suite struct ProcessesAndLocks {
    let calls = Calls()
    let isStopping = false
    func log(_ text: String) { calls.add("log") }
    func showTryAgain() { calls.add("try again") }
    func showFreeSpace() { calls.add("free space") }
    func showRecovery() { calls.add("recovery") }

    func waiting(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) throws {
        // Sample 1 of ProcessesAndLocks.md
    }

    func readingAnError(_ migrator: SQLiteMigrator, _ db: SQLiteConnection) {
        // Sample 1 of Errors.md
    }

    private func migrator(_ scripts: String...) throws -> SQLiteMigrator {
        try SQLiteMigrator(SQLiteMigration.numbered(scripts), lockTimeout: .milliseconds(20))
    }

    @Test func `each error has its screen, and is logged`() async throws {
        try await withFolder { folder async throws in
            let db = try SQLiteConnection(path: folder + "/db")
            try readingAnError(migrator("CREATE"), db)
            #expect(calls.take() == ["log", "recovery"])
            let other = try SQLiteConnection(path: folder + "/db")
            try other.query("BEGIN IMMEDIATE")
            try readingAnError(migrator("CREATE TABLE a(x)"), db)
            #expect(calls.take() == ["log", "try again"])
            try other.query("COMMIT")
            try db.query("PRAGMA max_page_count = 3")
            try readingAnError(migrator("CREATE TABLE a(x); INSERT INTO a VALUES (zeroblob(99999))"), db)
            #expect(calls.take() == ["log", "free space"])
        }
    }
}
