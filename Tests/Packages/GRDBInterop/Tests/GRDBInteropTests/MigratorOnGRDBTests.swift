import AppMigrationsSQLite
import Foundation
import GRDB
import Testing

@Suite struct MigratorOnGRDBTests {
    private struct Failure: Error {}

    private struct Artist: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
    }

    private let first = SQLMigration<Database>(
        version: 1,
        name: "artists",
        sql: """
            CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE album(id INTEGER PRIMARY KEY, artist REFERENCES artist(id) ON DELETE CASCADE);
            INSERT INTO artist VALUES (1, 'Nina'); INSERT INTO album VALUES (10, 1);
            """
    )

    static let rebuilding = """
        CREATE TABLE new(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
        INSERT INTO new(id, name) SELECT id, name FROM artist;
        DROP TABLE artist;
        ALTER TABLE new RENAME TO artist;
        """

    private let rebuild = SQLMigration<Database>(version: 2, sql: Self.rebuilding)

    private let records = SQLMigration<Database>(version: 3) { db, _ in
        try Artist(id: 2, name: "Bessie").insert(db)
    }

    @Test func `without a transaction the migrator begins its own, with foreign keys off`() throws {
        let queue = try DatabaseQueue()
        let migrator = try SQLMigrator([first, rebuild, records])
        try queue.writeWithoutTransaction { db throws in
            #expect(try migrator.migrate(db).applied == [1, 2, 3])
            #expect(try migrator.migrate(db).applied == [])
            #expect(try migrator.status(db).latestAppliedVersion == 3)
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
            #expect(!db.isInsideTransaction)
        }
        try queue.read { db throws in
            #expect(try Artist.fetchAll(db).map(\.name) == ["Nina", "Bessie"])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM album") == 1)
        }
    }

    @Test func `in a write it is inside the caller's transaction`() throws {
        let queue = try DatabaseQueue()
        let migrator = try SQLMigrator([first, records])
        #expect(throws: Failure.self) {
            try queue.write { db throws in
                try migrator.migrate(db, insideTransaction: true)
                throw Failure()
            }
        }
        try queue.write { db throws in
            // Not tableExists: GRDB remembers tables that a rollback took back, its own, too.
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0)
            #expect(try migrator.migrate(db, insideTransaction: true).applied == [1, 3])
        }
        #expect(try queue.read { try Artist.fetchCount($0) } == 2)
    }

    @Test func `in a write the migrator asks for insideTransaction`() throws {
        let queue = try DatabaseQueue()
        let migrator = try SQLMigrator([first])
        try queue.write { db throws in
            let error = try #require(throws: SQLError.self) { try migrator.migrate(db) }
            #expect(error.code == .alreadyInTransaction)
        }
        try queue.writeWithoutTransaction { db throws in
            let error = try #require(throws: SQLError.self) {
                try migrator.migrate(db, insideTransaction: true)
            }
            #expect(error.code == .notInTransaction)
        }
    }

    @Test func `in a write dropping a table that others refer to is refused`() throws {
        let queue = try DatabaseQueue()
        let migrator = try SQLMigrator([first, rebuild])
        try queue.write { db throws in
            let error = try #require(throws: SQLError.self) {
                try migrator.migrate(db, insideTransaction: true)
            }
            #expect(error.code == .refusedStatement)
            #expect(error.version == 2)
            #expect(error.line == 3)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM album") } == 1)
    }

    @Test(arguments: ScriptCase.all)
    func `a script comes to what it comes to on a connection of this library`(row: ScriptCase) throws {
        let migrator = try SQLMigrator([SQLMigration<Database>(version: 1, sql: row.script)])
        try DatabaseQueue().writeWithoutTransaction { db throws in
            let result = Result { try migrator.migrate(db) }
            let tables = try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'schema_migrations' ORDER BY name"
            )
            switch row.outcome {
            case .made(let expected):
                #expect(try result.get().applied == [1])
                #expect(tables == expected)
            case .ended(let code, let line, let column):
                let error = try #require(throws: SQLError.self) { try result.get() }
                #expect((error.code, error.line, error.column) == (code, line, column), "\(error)")
                #expect(tables == [])
            }
            #expect(!db.isInsideTransaction)
        }
    }

    @Test(arguments: ["COMMIT", "INSERT OR ROLLBACK INTO a VALUES (1)"])
    func `with GRDB's own way to run a script, a transaction that ended is noticed`(statement: String) throws
    {
        let queue = try DatabaseQueue()
        let migrator = try SQLMigrator<PlainDatabase>([
            SQLMigration(version: 1, sql: "CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1)"),
            SQLMigration(version: 2, sql: statement),
        ])
        try queue.writeWithoutTransaction { db throws in
            #expect(throws: SQLError.self) { try migrator.migrate(PlainDatabase(db: db)) }
            #expect(!db.isInsideTransaction)
            #expect(try Int64.fetchAll(db, sql: "SELECT version FROM schema_migrations") == [1])
        }
    }

    @Test func `a lock that another connection holds is busy, and blames no file`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grdb-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let path = folder.path(percentEncoded: false)
        try Data("CREATE TABLE a(x)".utf8).write(to: folder.appending(path: "1_a.sql"))
        let migrator = try SQLMigrator<Database>(SQLMigration.files(in: path), lockTimeout: .milliseconds(20))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: path + "/db", configuration: configuration)
        let queue = try DatabaseQueue(path: path + "/db")
        for lock in ["IMMEDIATE", "EXCLUSIVE"] {
            try holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN \(lock)") }
            try queue.writeWithoutTransaction { db throws in
                let error = try #require(throws: SQLError.self) { try migrator.migrate(db) }
                #expect(error.code == .busy)
                #expect(error.path == nil)
                #expect(error.underlyingError is DatabaseError)
            }
            try holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        }
        #expect(try queue.writeWithoutTransaction { try migrator.migrate($0).applied } == [1])
    }

    @Test func `GRDB knows the schema that a script changed`() throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            try SQLMigrator([first]).migrate(db)
            #expect(try db.columns(in: "artist").count == 2)
            try SQLMigrator([first, rebuild]).migrate(db)
            #expect(try db.columns(in: "artist").count == 3)
        }
    }

    @Test func `GRDB's observers and statements work after a script`() throws {
        let queue = try DatabaseQueue()
        _ = try queue.writeWithoutTransaction { try SQLMigrator([first]).migrate($0) }
        let observed = Counter()
        let observation = DatabaseRegionObservation(tracking: Artist.all())
        let cancellable = observation.start(
            in: queue,
            onError: { _ in },
            onChange: { _ in observed.count += 1 }
        )
        try queue.write { try Artist(id: 5, name: "Ella").insert($0) }
        #expect(observed.count == 1)
        cancellable.cancel()
    }
}

/// Changed on the queue of the database only, which the test waits for.
private final class Counter: @unchecked Sendable {
    var count = 0
}
