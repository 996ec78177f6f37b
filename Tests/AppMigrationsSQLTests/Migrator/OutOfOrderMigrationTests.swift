import AppMigrationsSQLite
import Testing

/// A pending migration below one that was applied already, as from a branch that was merged late.
@Suite(.temporaryDirectory) struct OutOfOrderMigrationTests {
    private static func migration(_ version: Int64, _ name: String? = nil) -> Migration {
        Migration(version: version, name: name, sql: "CREATE TABLE t\(version)(x)")
    }

    private func database(with versions: Int64...) throws -> SQLiteConnection {
        let db = try memory()
        try Migrator(versions.map { Self.migration($0) }).migrate(db)
        return db
    }

    @Test func `it is refused before anything runs, by choice`() throws {
        let db = try database(with: 1, 3)
        let all = [1, 2, 3, 4].map { Self.migration($0) }
        let migrator = try Migrator(all, outOfOrder: .refused)
        let error = try sqlError { try migrator.migrate(db) }
        #expect(error.code == .outOfOrder)
        #expect(
            error.description
                == "Migration 2: It has not been applied, but the newer version 3 has. No migration was run."
                + " Give it a higher version, or let the migrator run it (outOfOrder: .reported)."
        )
        #expect(try tables(in: db) == ["t1", "t3"])
        #expect(try migrator.status(db).outOfOrder == [2])
        #expect(try Migrator(all).migrate(db).outOfOrder == [2])
        #expect(try migrator.migrate(db).applied == [])
    }

    @Test func `what is pending above all that was applied runs, and so does a first start`() throws {
        let migrator = try Migrator([1, 2, 3].map { Self.migration($0) }, outOfOrder: .refused)
        #expect(try migrator.migrate(try database(with: 1)).applied == [2, 3])
        #expect(try migrator.migrate(memory()).applied == [1, 2, 3])
        // A newer release has applied 9.
        #expect(try sqlError { try migrator.migrate(try database(with: 1, 9)) }.code == .outOfOrder)
    }

    @Test func `a later version that another release applies during the wait for the lock counts`() throws {
        let path = TemporaryDirectory.current.path + "/db"
        let db = try SQLiteConnection(path: path)
        let other = try SQLiteConnection(path: path)
        try Migrator([Self.migration(1)]).migrate(db)
        try other.query("BEGIN IMMEDIATE")
        let migrator = try Migrator([Self.migration(1), Self.migration(2)], outOfOrder: .refused)
        let error = try sqlError {
            try migrator.migrate(
                db,
                waiting: {
                    #expect(throws: Never.self) {
                        try other.query("INSERT INTO schema_migrations(version) VALUES (3)")
                        try other.query("COMMIT")
                    }
                }
            )
        }
        #expect(error.code == .outOfOrder)
        #expect(try tables(in: db) == ["t1"])
    }

    @Test func `a status has the names of what is pending`() throws {
        let db = try database(with: 1)
        let status = try Migrator([Self.migration(1), Self.migration(2, "folders"), Self.migration(3)])
            .status(db)
        #expect(status.pending == [2, 3])
        #expect(status.pendingNames == [2: "folders"])
        #expect("\(status)" == "At version 1. Applied: 1. Pending: 2 (folders), 3.")
    }
}
